"""What is exported is enough for others: small checkers that read only the files agree with our rules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leaserace.harness.export import write
from leaserace.harness.history import AnyEvent
from leaserace.harness.simulation.driver import Bounds
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.strategies.uniform import Uniform
from leaserace.harness.simulation.subjects import parse
from leaserace.harness.targets import load_target
from tests.harness.judge.logs import GOOD, judged, row

from .checkers import counter_is_in_bounds, elle_cycle, linearizable, set_is_whole

REFERENCE = "leaserace.reference_impl.target:target"
SUBJECTS = ("prog.ASXS.AS", "prog.AXSL.AS.AS", "prog.ANXA.XASR", "play.sales.support")


def runs(target: str, count: int, *subjects: str) -> Iterator[list[AnyEvent]]:
    """Histories of drawn schedules, faults included; no rule ends them early."""
    bounds = Bounds(faults=1, time_steps=2)
    with Runner(load_target(target), rules=()) as runner:
        for seed in range(count):
            rng = random.Random(seed)
            subject = parse(subjects[seed % len(subjects)])
            yield runner.run(subject, "plain", Uniform(rng), bounds).events


def checks(events: Any, folder: Path) -> dict[str, bool]:
    """What each checker says of a history, from its files alone."""
    write(events, folder)
    return {
        "porcupine": linearizable(folder / "porcupine.jsonl"),
        "elle": not elle_cycle(folder / "elle-tokens.json"),
        "set": set_is_whole(folder / "set-sends.json"),
        "counter": counter_is_in_bounds(folder / "counter-sends.json"),
    }


def test_the_references_histories_pass_every_checker(tmp_path: Path) -> None:
    """spec: S3, S10, L4, K2."""
    for events in runs(REFERENCE, 60, *SUBJECTS):
        assert all(checks(events, tmp_path).values())


@pytest.mark.parametrize(
    ("twin", "subject", "checker"),
    [
        ("without_fencing_check", "prog.AXS.XA", "porcupine"),
        ("without_fencing_check", "prog.AXS.XA", "elle"),
        ("without_release_token", "prog.AXL.XAS", "porcupine"),
        ("without_release_token", "prog.AXL.XAS", "elle"),
        ("without_key_normalisation", "prog.ASK.W", "counter"),
    ],
)
def test_a_twins_histories_fail_the_checker_of_what_it_lacks(
    twin: str, subject: str, checker: str, tmp_path: Path
) -> None:
    """spec: S3, L7, K3; some schedules of it, at least."""
    target = f"leaserace.reference_impl.broken.{twin}:target"

    failed = [not checks(events, tmp_path)[checker] for events in runs(target, 40, subject)]

    assert any(failed)


def test_a_lost_message_is_missing_from_the_set(tmp_path: Path) -> None:
    """spec: S8."""
    told = (*GOOD[:4], row(7_000, "sent", "b", "x@x.com", token=None, key="k9", mid="<m9>"))
    events = judged(tmp_path, *told, *GOOD[4:]).history

    said = checks(events, tmp_path)

    assert said["set"] is False
    assert said["porcupine"]
    assert said["elle"]


def test_a_stale_send_in_a_log_fails_both_checkers_of_order(tmp_path: Path) -> None:
    """spec: S3; by the lines of a log, too."""
    stale = row(3_500, "sent", "sales-01", token=1, key="k3", mid="<m3@x>")
    good = checks(judged(tmp_path, *GOOD).history, tmp_path)
    bad = checks(judged(tmp_path, *GOOD[:5], stale, *GOOD[5:]).history, tmp_path)

    assert all(good.values())
    assert not bad["porcupine"]
    assert not bad["elle"]


def test_what_was_never_answered_excuses_and_never_accuses(tmp_path: Path) -> None:
    """spec: S10."""
    for events in runs(REFERENCE, 20, *SUBJECTS):
        for cut in range(1, len(events), 7):
            said = checks(events[:cut], tmp_path)
            assert said["porcupine"]
            assert said["elle"]
