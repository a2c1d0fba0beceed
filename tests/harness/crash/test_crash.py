"""Senders are killed at every point of the send path, start again, and ask (spec: S8, K10, X4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from leaserace.harness import cli
from leaserace.harness.crash.campaign import (
    CANARY,
    KIT_POINTS,
    RANDOM,
    Campaign,
    crash_scenario,
)
from leaserace.harness.crash.errand import ANSWERED, ANY, End
from leaserace.harness.crash.tally import Row, tally, total
from leaserace.harness.history import FaultEvent
from leaserace.harness.judging import result_of
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.verdict import RaceResult, Verdict
from leaserace.reference_impl.broken.canaries import CRASH_CANARIES

pytestmark = pytest.mark.process

DURABLE = "leaserace.reference_impl.durable:target"
SEND_POINTS = {
    "send.normalised",
    "send.key_resolved",
    "send.checked",
    "send.recorded",
    "send.dispatching",
    "send.handed_over",
    "send.settled",
}
SETTLED = {End.RECORDED, End.SENT, End.FOUND, End.SENT_AFTER}


class Came(NamedTuple):
    """What came of a campaign."""

    result: RaceResult
    rows: list[Row]
    kills: int
    """SIGKILLs in the history."""

    @property
    def points(self) -> set[str]:
        return {row.point for row in self.rows if row.kills}


Kill = Callable[..., Came]


@pytest.fixture
def kill(tmp_path: Path) -> Kill:
    def kill_(target: str, kills: int, *, seed: int = 1, searchable: bool = True) -> Came:
        with ProcessEngine(target, tmp_path, seed=seed, searchable=searchable) as engine:
            campaign = Campaign(kills=kills, declared=tuple(engine.target.points))
            run = engine.run(crash_scenario(campaign), RANDOM, agents=2)
        deaths = [
            each
            for each in run.history
            if isinstance(each, FaultEvent) and each.fault == "crash" and each.phase == "begin"
        ]
        return Came(result_of(run)[0], tally(run.history), len(deaths))

    return kill_


def check(came: Came, kills: int) -> None:
    """No duplicate, nothing lost, every outcome delivered, or unknown and then settled."""
    assert came.result.verdict is Verdict.VALID, (came.result.reason, came.result.findings)
    whole = total(came.rows)
    assert whole.sends == kills
    assert (whole.duplicates, whole.lost) == (0, 0)
    assert set(whole.ends) <= SETTLED, whole.ends
    assert came.kills == whole.kills >= kills
    assert came.points == SEND_POINTS | {*KIT_POINTS, ANSWERED, ANY}


def test_no_kill_doubles_or_loses_a_message(kill: Kill) -> None:
    """spec: S8, K2, K10, X4, X9"""
    check(kill(DURABLE, 40), 40)


@pytest.mark.slow
def test_a_thousand_kills_double_or_lose_no_message(
    kill: Kill,
) -> None:
    """spec: S8, K2, K10, X4, X9"""
    came = kill(DURABLE, 1000, seed=1000)

    check(came, 1000)
    assert all(row.kills >= 50 for row in came.rows)
    ends = total(came.rows).ends
    assert all(ends[end] for end in SETTLED), ends


@pytest.mark.parametrize("canary", CRASH_CANARIES, ids=lambda canary: canary["twin"])
def test_a_mailbox_that_doubles_after_a_crash_is_found(
    canary: dict[str, str], tmp_path: Path
) -> None:
    """A campaign that can't fail proves nothing (spec: S8, K10)."""
    with ProcessEngine(canary["target"], tmp_path, seed=1, searchable=True) as engine:
        run = engine.run(crash_scenario(Campaign(kills=1)), CANARY, agents=2)
    result, _ = result_of(run)
    assert result.verdict is Verdict.INVALID
    assert canary["rule"] in {finding.rule for finding in result.findings}
    assert total(tally(run.history)).duplicates > 0


@pytest.mark.parametrize(
    ("blind", "verdict"), [(0.0, Verdict.VALID), (1.0, Verdict.INVALID)], ids=["asks", "blind"]
)
def test_a_mailbox_that_runs_an_unknown_send_again_is_found_by_those_who_do_not_ask(
    blind: float, verdict: Verdict, tmp_path: Path
) -> None:
    """Who looks the key up hides it (spec: S8, K10, R)."""
    target = "leaserace.reference_impl.broken.without_unknown_state:target"
    campaign = Campaign(kills=2, points=("send.handed_over",), blind=blind)
    with ProcessEngine(target, tmp_path, seed=1, searchable=True) as engine:
        result, _ = result_of(engine.run(crash_scenario(campaign), RANDOM, agents=2))
    assert result.verdict is verdict, (result.reason, result.findings)
    assert ("sends.once" in {each.rule for each in result.findings}) is bool(blind)


def test_where_the_receiving_side_cannot_be_asked_unknown_stays_unknown(kill: Kill) -> None:
    """Never sent again by itself: at most one message each (spec: K10)."""
    came = kill(DURABLE, 13, searchable=False)

    assert came.result.verdict is Verdict.VALID, came.result.findings
    whole = total(came.rows)
    assert whole.ends[End.UNKNOWN] > 0
    assert not whole.ends[End.FOUND] + whole.ends[End.SENT_AFTER] + whole.ends[End.LOST]
    assert whole.duplicates == 0


def test_a_lease_that_ended_meanwhile_is_claimed_again_under_the_same_key(kill: Kill) -> None:
    """spec: R, K6"""
    came = kill("tests.support.crash_targets:ShortLeases", 13)

    assert came.result.verdict is Verdict.VALID, (came.result.reason, came.result.findings)
    whole = total(came.rows)
    assert set(whole.ends) <= SETTLED
    assert whole.duplicates == 0


def test_a_mailbox_without_look_up_or_points_is_killed_from_outside(kill: Kill) -> None:
    came = kill("tests.support.crash_targets:NoLookup", 10)

    assert came.result.verdict is Verdict.VALID, (came.result.reason, came.result.findings)
    assert came.points == {*KIT_POINTS, ANSWERED, ANY}


def test_a_point_that_no_send_passes_is_left_out(kill: Kill) -> None:
    came = kill("tests.support.crash_targets:ForeignPoint", 6)

    assert came.points == {*KIT_POINTS, "send.handed_over", ANSWERED, ANY}


def test_the_command_prints_the_counts_a_line_a_point(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert cli._status(["crash", "--kills", "13", "--seed", "1"]) == 0

    text = capsys.readouterr().out
    assert "Canary: a mailbox broken on purpose (without_key_after_failure)" in text
    assert "Crash: VALID" in text
    assert "rate is below" in text
    assert {*SEND_POINTS, "send.think"} <= set(text.split())
    assert text.startswith((tmp_path / ".leaserace/latest/kills.txt").read_text())
    outcome = json.loads((tmp_path / ".leaserace/latest/verdict.json").read_text())
    assert outcome["again"] == "leaserace crash --kills 13 --agents 2 --target durable --seed 1"
    (race,) = outcome["races"]
    assert race["figures"]["sends"] == race["rounds"] == 13
    assert race["figures"]["duplicates"] == race["figures"]["lost"] == 0


def test_a_target_without_keys_is_not_applicable(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retry can't be told from a new message there: that is no pass."""
    monkeypatch.chdir(tmp_path)
    arguments = ["--target", "tests.support.gate_targets:LeasesOnly", "--kills", "2", "--json"]

    assert cli._status(["crash", *arguments]) == 5

    (race,) = json.loads(capsys.readouterr().out)["races"]
    assert race["reason"] == "the target does not declare idempotency, send"


def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli._status(["crash", "--kills", "0"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "0 is not in the range" in line
