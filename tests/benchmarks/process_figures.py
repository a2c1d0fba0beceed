"""Figures of the process engine: python -m tests.benchmarks.process_figures [--target NAME].

Prints one line a figure. Nothing is asserted: the figures are for notes and for comparing machines.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from leaserace.harness import Race, Settings
from leaserace.harness.engine import RaceRun
from leaserace.harness.processes.engine import ProcessEngine
from tests.support.process_playbooks import send_recorded, send_unrecorded
from tests.support.races import claim_again_and_again, faults, run

PAUSES = 200
RACES = 30
SECONDS = 3.0


def nothing(race: Race) -> None:
    """Only start and end."""


def claims(race: Race) -> None:
    """Every agent claims one contact at one instant."""
    contact = race.contact()
    race.together(*(agent.later.acquire(contact) for agent in race.agents))


def pauses(race: Race) -> None:
    """Pause an agent in a call and let it go on."""
    first = race.agents[0]
    stop = first.pause_at("acquire.invoked")
    claim = first.start(first.later.acquire(race.contact()))
    stop.wait()
    stop.resume()
    claim.answer()


def contention(race: Race) -> None:
    """All agents claim and release one contact."""
    contact = race.contact()
    play = {"contact": contact.name, "address": contact.address}
    race.play(claim_again_and_again, {agent.id: play for agent in race.agents}, SECONDS)


def sends(race: Race) -> None:
    """One agent sends, recorded."""
    contact = race.contact()
    play = {"contact": contact.name, "address": contact.address, "name": "on"}
    race.play(send_recorded, {race.agents[0].id: play}, SECONDS)


def silent_sends(race: Race) -> None:
    """One agent sends, unrecorded."""
    contact = race.contact()
    play = {"contact": contact.name, "address": contact.address, "name": "off"}
    race.play(send_unrecorded, {race.agents[0].id: play}, SECONDS)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def say(name: str, value: float, unit: str, note: str = "") -> None:
    print(f"{name:<48} {value:>10.1f} {unit:<6} {note}")


def timed(engine: ProcessEngine, script: Callable[[Race], None], times: int, agents: int) -> float:
    """Median seconds of a race, as the caller waits for it."""
    seconds = []
    for _ in range(times):
        begun = time.monotonic()
        result = run(engine, script, agents=agents)
        seconds.append(time.monotonic() - begun)
        assert not result.problems, result.problems
    return percentile(seconds, 0.5)


def pause_figures(engine: ProcessEngine) -> None:
    confirmed: list[float] = []
    after: list[float] = []
    for _ in range(PAUSES // 20):
        result = run(engine, pauses, rounds=20)
        assert not result.problems, result.problems
        stops = [event for event in faults(result, "pause") if event.phase == "begin"]
        confirmed.extend(event.detail["confirmed_us"] for event in stops)
        after.extend(event.detail["after_us"] for event in stops)
    for name, values in (("SIGSTOP confirmed in", confirmed), ("stopped after the point", after)):
        for label, share in (("median", 0.5), ("p99", 0.99), ("worst", 1.0)):
            say(f"{name}, {label} of {len(values)}", percentile(values, share), "us")


def rate(result: RaceRun, agent: str = "sales-01") -> float:
    assert not result.problems, result.problems
    return result.figures[f"ops.{agent}"] / SECONDS


def measure(target: str, folder: Path) -> None:
    begun = time.monotonic()
    with ProcessEngine(target, folder) as engine:
        say("engine started in", (time.monotonic() - begun) * 1000, "ms", engine.target.name)
        for agents in (2, 5):
            median_s = timed(engine, nothing, RACES, agents)
            say(f"a race of {agents} agents that do nothing, median", median_s * 1000, "ms")
        begun = time.monotonic()
        run(engine, claims, rounds=50)
        say("50 rounds of two simultaneous claims", (time.monotonic() - begun) * 1000, "ms")
        pause_figures(engine)
        settings = Settings(lease_s=600.0)
        on = rate(run(engine, sends, settings=settings))
        off = rate(run(engine, silent_sends, settings=settings))
        say("sends a second, recorded", on, "/s")
        say("sends a second, not recorded", off, "/s", f"ratio {on / off:.2f}")
        for agents in (2, 5):
            result = run(engine, contention, agents=agents)
            share = result.figures["slowest_share"]
            total = sum(v for name, v in result.figures.items() if name.startswith("ops."))
            say(f"contended operations a second, {agents} agents", total / SECONDS, "/s")
            say("  slowest agent's share of the fastest's", share * 100, "%")
            say("  longest wait", result.figures["longest_wait_s"] * 1000, "ms")
        begun = time.monotonic()
    say("engine ended in", (time.monotonic() - begun) * 1000, "ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="leaserace.reference_impl.target:target")
    target = parser.parse_args().target
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        measure(target, Path(folder))


if __name__ == "__main__":
    main()
