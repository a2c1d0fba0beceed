"""The toy lease race against other simulators: two agents, 26 steps, the same words for all.

Run it where the others are installed beside leaserace (they need Python 3.12 or later)::

    python tests/benchmarks/simulation_rivals.py

Every simulator chooses at each of the 26 steps who moves; ours writes each choice down, as in use. The
figures are schedules a second of CPU time, the best of several rounds that take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 5
SCHEDULES = 300
AGENTS = 2
LEASE_STEPS = 8


class Toy:
    """One contact: a lease that ends after some steps, a fence, keys."""

    def __init__(self) -> None:
        self.now = 0
        self.owner = -1
        self.token = 0
        self.expires = 0
        self.held = [0] * AGENTS
        self.sent: dict[str, int] = {}
        self.stale = 0

    def tick(self) -> None:
        self.now += 1


def acquire(toy: Toy, agent: int) -> None:
    toy.tick()
    if toy.expires <= toy.now:
        toy.owner, toy.token, toy.expires = agent, toy.token + 1, toy.now + LEASE_STEPS
        toy.held[agent] = toy.token


def draft(toy: Toy, agent: int) -> None:
    toy.tick()


def renew(toy: Toy, agent: int) -> None:
    toy.tick()
    if toy.owner == agent and toy.held[agent] == toy.token and toy.expires > toy.now:
        toy.expires = toy.now + LEASE_STEPS


def send(toy: Toy, agent: int) -> None:
    toy.tick()
    key = f"{agent}:{toy.held[agent]}"
    if key not in toy.sent and toy.held[agent] == toy.token and toy.expires > toy.now:
        toy.sent[key] = toy.token


def lookup(toy: Toy, agent: int) -> None:
    toy.tick()
    if toy.sent.get(f"{agent}:{toy.held[agent]}", toy.token) > toy.token:
        toy.stale += 1


def release(toy: Toy, agent: int) -> None:
    toy.tick()
    if toy.owner == agent and toy.held[agent] == toy.token:
        toy.expires = toy.now


STEPS = (
    acquire, draft, draft, renew, send, lookup, send, release, acquire, draft, send, lookup, release,
)  # fmt: skip
assert AGENTS * len(STEPS) == 26


async def agent_async(toy: Toy, agent: int) -> None:
    for step in STEPS:
        await asyncio.sleep(0)
        step(toy, agent)


async def race_async(*_: object) -> None:
    toy = Toy()
    await asyncio.gather(*(agent_async(toy, agent) for agent in range(AGENTS)))
    assert toy.stale == 0
    assert toy.now == AGENTS * len(STEPS)


def ours(schedules: int, seed: int) -> None:
    from leaserace.harness.contract import AgentContext, Environment, Settings, Target
    from leaserace.harness.points import listen, point
    from leaserace.harness.simulation.driver import Bounds, Driver
    from leaserace.harness.simulation.strategies.uniform import Uniform
    from leaserace.harness.simulation.world import World

    class Nothing(Target):
        def start(self, env: Environment) -> None:
            pass

        def connect(self, agent: AgentContext) -> None:  # type: ignore[override]
            pass

    world = World(Nothing())
    listen(world)
    chooser, bounds, settings = Uniform(random.Random(seed)), Bounds(), Settings()
    toy = Toy()

    def job(task: object) -> None:
        agent = task.index  # type: ignore[attr-defined]
        for step in STEPS:
            point("toy")
            step(toy, agent)

    for _ in range(schedules):
        toy = Toy()
        world.begin(settings, ("a", "b"), _ignore)
        for task in world.tasks:
            task.begin(job)
        driver = Driver(world, chooser, bounds)
        while driver.step():
            pass
        assert toy.stale == 0
        assert toy.now == AGENTS * len(STEPS)
        assert len(driver.trail) >= AGENTS * len(STEPS)
    world.end()
    listen(None)


def _ignore(event: object) -> None:
    pass


def detangle(schedules: int, seed: int) -> None:
    module = importlib.import_module("detangle")
    module.explore(race_async, runs=schedules, seed=seed, strategy="random", database=False)


def simloom(schedules: int, seed: int) -> None:
    module = importlib.import_module("simloom")
    module.explore(race_async, runs=schedules, start_seed=seed, world=False)


def seedloop(schedules: int, seed: int) -> None:
    """It keeps asyncio's order of ready tasks; who moves next is a choice only where time is drawn."""
    module = importlib.import_module("seedloop")

    async def race(world: Any) -> None:
        toy = Toy()

        async def agent(number: int) -> None:
            for step in STEPS:
                await asyncio.sleep(world.rng.random())
                step(toy, number)

        await asyncio.gather(*(agent(number) for number in range(AGENTS)))
        assert toy.stale == 0

    module.check(race, seeds=range(seed, seed + schedules))


def simloop(schedules: int, seed: int) -> None:
    module = importlib.import_module("simloop")
    module.explore(race_async, seeds=range(seed, seed + schedules))


WAYS: dict[str, Callable[[int, int], None]] = {
    "leaserace": ours,
    "detangle": detangle,
    "simloom": simloom,
    "seedloop": seedloop,
    "simloop": simloop,
}


def rate(way: Callable[[int, int], None], seed: int) -> float:
    """Schedules a second of CPU time."""
    gc.collect()
    begun = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        way(SCHEDULES, seed)
    return SCHEDULES / (time.process_time() - begun)


def main() -> None:
    best = dict.fromkeys(WAYS, 0.0)
    failed: dict[str, str] = {}
    for number in range(ROUNDS):
        for name, way in WAYS.items():
            if name in failed:
                continue
            try:
                best[name] = max(best[name], rate(way, number * SCHEDULES))
            except Exception as error:  # noqa: BLE001 - a rival that can't be run is said
                failed[name] = f"{type(error).__name__}: {error}"
    fastest = max(value for name, value in best.items() if name != "leaserace")
    for name, value in sorted(best.items(), key=lambda item: -item[1]):
        print(f"{name:10} {value:10,.0f} schedules/s  {failed.get(name, '')[:300]}")
    if fastest:
        print(f"ratio to the fastest rival: {best['leaserace'] / fastest:.1f}")
    print(json.dumps(best))


if __name__ == "__main__":
    main()
