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
    CANARY_KILLS,
    RANDOM,
    Campaign,
    crash_scenario,
)
from leaserace.harness.crash.errand import End
from leaserace.harness.crash.fates import CallRow, tally_calls
from leaserace.harness.crash.strike import ANSWERED, ANY, kit_points
from leaserace.harness.crash.tally import Row, tally, total
from leaserace.harness.crash.trials import TRIALS, Fate
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
KIT_POINTS = kit_points("send")
POINTS = {
    "acquire": {"acquire.read", "acquire.granted", "acquire.committed"},
    "renew": {"renew.read", "renew.written", "renew.committed"},
    "release": {"release.read", "release.written", "release.committed"},
    "suppress": {"suppress.written", "suppress.committed"},
    "cancel": {"cancel.written", "cancel.committed"},
    "clean_up": {"clean_up.read"},
}
SETTLED = {End.RECORDED, End.SENT, End.FOUND, End.SENT_AFTER}


class Came(NamedTuple):
    """What came of a campaign."""

    result: RaceResult
    rows: list[Row]
    calls: list[CallRow]
    kills: int
    """SIGKILLs in the history."""

    @property
    def points(self) -> set[str]:
        return {row.point for row in self.rows if row.kills}


Kill = Callable[..., Came]


@pytest.fixture
def kill(tmp_path: Path) -> Kill:
    def kill_(
        target: str,
        kills: int,
        *calls: str,
        seed: int = 1,
        searchable: bool = True,
    ) -> Came:
        with ProcessEngine(target, tmp_path, seed=seed, searchable=searchable) as engine:
            campaign = Campaign(kills=kills, calls=calls, declared=tuple(engine.target.points))
            run = engine.run(crash_scenario(campaign), RANDOM, agents=2)
        deaths = [
            each
            for each in run.history
            if isinstance(each, FaultEvent) and each.fault == "crash" and each.phase == "begin"
        ]
        result, _ = result_of(run)
        return Came(result, tally(run.history), tally_calls(run.history), len(deaths))

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
    check(kill(DURABLE, 40, "send"), 40)


@pytest.mark.slow
def test_a_thousand_kills_double_or_lose_no_message(
    kill: Kill,
) -> None:
    """spec: S8, K2, K10, X4, X9"""
    came = kill(DURABLE, 1000, "send", seed=1000)

    check(came, 1000)
    assert all(row.kills >= 50 for row in came.rows)
    ends = total(came.rows).ends
    assert all(ends[end] for end in SETTLED), ends


def holds(came: Came, kills: int) -> None:
    """Every answer given is so, and what was not answered was done or can be."""
    assert came.result.verdict is Verdict.VALID, (came.result.reason, came.result.findings)
    assert sum(row.kills for row in came.calls) == kills
    assert not any(row.fates[Fate.LOST] for row in came.calls)


def test_no_kill_inside_another_call_takes_an_answer_back(kill: Kill) -> None:
    """A kill at every point of every call. spec: L3, L4, L6, L7, C1, C3, K5, X4, X17"""
    came = kill(DURABLE, 48, *TRIALS)

    holds(came, 48)
    assert came.kills == 48
    for row in came.calls:
        others = {*kit_points(row.call), ANSWERED, ANY}
        assert row.points.keys() == POINTS[row.call] | others, row.call
        assert row.fates[Fate.HELD]
        assert row.fates[Fate.AGAIN]


@pytest.mark.slow
def test_many_kills_inside_other_calls_take_no_answer_back(kill: Kill) -> None:
    """spec: L3, L4, L6, L7, C1, C3, K5, X4, X17"""
    holds(kill(DURABLE, 300, *TRIALS, seed=1000), 300)


@pytest.mark.parametrize("call", [call for call in TRIALS if call != "clean_up"])
def test_a_mailbox_that_answers_before_it_writes_is_found(kill: Kill, call: str) -> None:
    """spec: L3, L6, L7, C1, X17"""
    came = kill("tests.support.crash_targets:WriteBehind", 8, call)

    assert came.result.verdict is Verdict.INVALID
    (row,) = came.calls
    assert row.fates[Fate.LOST]


def test_a_clean_up_that_forgets_tokens_is_found(kill: Kill) -> None:
    """spec: L4"""
    came = kill("leaserace.reference_impl.broken.without_lasting_counter:target", 3, "clean_up")

    assert came.result.verdict is Verdict.INVALID
    (row,) = came.calls
    assert row.fates[Fate.LOST] == 3


def test_an_opt_out_that_waits_for_the_release_is_lost_with_its_caller(kill: Kill) -> None:
    """spec: C3"""
    target = "leaserace.reference_impl.broken.without_suppression_before_release:target"
    came = kill(target, 8, "suppress")

    assert came.result.verdict is Verdict.INVALID
    assert "scenario.expected" in {finding.rule for finding in came.result.findings}


def test_a_lease_that_is_over_by_time_is_no_lost_answer(kill: Kill) -> None:
    """spec: L3, L5, L6"""
    holds(kill("tests.support.crash_targets:ShortLeases", 24, *TRIALS), 24)


def test_leases_alone_are_killed_in_where_they_are_asked_for(kill: Kill) -> None:
    came = kill("tests.support.gate_targets:LeasesOnly", 6, "acquire", "renew", "release")

    holds(came, 6)
    assert [row.call for row in came.calls] == ["acquire", "renew", "release"]


def test_every_second_kill_strikes_a_send(kill: Kill) -> None:
    came = kill(DURABLE, 24)

    assert came.result.verdict is Verdict.VALID, (came.result.reason, came.result.findings)
    assert total(came.rows).sends == 12
    assert [(row.call, row.kills) for row in came.calls] == [(call, 2) for call in TRIALS]


@pytest.mark.parametrize("canary", CRASH_CANARIES, ids=lambda canary: canary["twin"])
def test_a_mailbox_that_doubles_or_forgets_after_a_crash_is_found(
    canary: dict[str, str], tmp_path: Path
) -> None:
    """A campaign that can't fail proves nothing (spec: S8, K10, C3)."""
    scenario = crash_scenario(Campaign(kills=1))
    (variant,) = (each for each in scenario.variants if each.name == canary["variant"])
    with ProcessEngine(canary["target"], tmp_path, seed=1, searchable=True) as engine:
        run = engine.run(scenario, variant, agents=2)
    result, _ = result_of(run)
    assert result.verdict is Verdict.INVALID
    assert canary["rule"] in {finding.rule for finding in result.findings}
    if variant is CANARY:
        assert total(tally(run.history)).duplicates > 0
    else:
        assert tally_calls(run.history)[0].fates == {Fate.LOST: CANARY_KILLS}


@pytest.mark.parametrize(
    ("blind", "verdict"), [(0.0, Verdict.VALID), (1.0, Verdict.INVALID)], ids=["asks", "blind"]
)
def test_a_mailbox_that_runs_an_unknown_send_again_is_found_by_those_who_do_not_ask(
    blind: float, verdict: Verdict, tmp_path: Path
) -> None:
    """Who looks the key up hides it (spec: S8, K10, R)."""
    target = "leaserace.reference_impl.broken.without_unknown_state:target"
    campaign = Campaign(kills=2, calls=("send",), points=("send.handed_over",), blind=blind)
    with ProcessEngine(target, tmp_path, seed=1, searchable=True) as engine:
        result, _ = result_of(engine.run(crash_scenario(campaign), RANDOM, agents=2))
    assert result.verdict is verdict, (result.reason, result.findings)
    assert ("sends.once" in {each.rule for each in result.findings}) is bool(blind)


def test_where_the_receiving_side_cannot_be_asked_unknown_stays_unknown(kill: Kill) -> None:
    """Never sent again by itself: at most one message each (spec: K10)."""
    came = kill(DURABLE, 13, "send", searchable=False)

    assert came.result.verdict is Verdict.VALID, came.result.findings
    whole = total(came.rows)
    assert whole.ends[End.UNKNOWN] > 0
    assert not whole.ends[End.FOUND] + whole.ends[End.SENT_AFTER] + whole.ends[End.LOST]
    assert whole.duplicates == 0


def test_a_lease_that_ended_meanwhile_is_claimed_again_under_the_same_key(kill: Kill) -> None:
    """spec: R, K6"""
    came = kill("tests.support.crash_targets:ShortLeases", 13, "send")

    assert came.result.verdict is Verdict.VALID, (came.result.reason, came.result.findings)
    whole = total(came.rows)
    assert set(whole.ends) <= SETTLED
    assert whole.duplicates == 0


def test_a_mailbox_without_look_up_or_points_is_killed_from_outside(kill: Kill) -> None:
    came = kill("tests.support.crash_targets:NoLookup", 10, "send")

    assert came.result.verdict is Verdict.VALID, (came.result.reason, came.result.findings)
    assert came.points == {*KIT_POINTS, ANSWERED, ANY}


def test_a_point_that_no_send_passes_is_left_out(kill: Kill) -> None:
    came = kill("tests.support.crash_targets:ForeignPoint", 6, "send")

    assert came.points == {*KIT_POINTS, "send.handed_over", ANSWERED, ANY}


def test_the_command_prints_the_counts_a_line_a_point(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    calls = ["--call", "send", "--call", "renew", "--call", "send"]
    assert cli._status(["crash", "--kills", "26", "--seed", "1", *calls]) == 0

    text = capsys.readouterr().out
    assert "Canary: a mailbox broken on purpose (without_key_after_failure)" in text
    assert "Crash: VALID" in text
    assert "rate is below" in text
    assert {*SEND_POINTS, "send.think", "renew"} <= set(text.split())
    assert text.startswith((tmp_path / ".leaserace/latest/kills.txt").read_text())
    outcome = json.loads((tmp_path / ".leaserace/latest/verdict.json").read_text())
    assert outcome["again"] == (
        "leaserace crash --kills 26 --agents 2 --call send --call renew --target durable --seed 1"
    )
    (race,) = outcome["races"]
    assert race["figures"]["sends"] == race["rounds"]
    assert race["figures"]["sends"] + race["figures"]["kills.renew"] == 26
    assert race["figures"]["fate.lost"] == 0
    kills = int(race["figures"]["kills"])
    assert f"\n{kills} kills: send {kills - race['figures']['kills.renew']:g}, renew " in text
    assert race["figures"]["duplicates"] == race["figures"]["lost"] == 0


def test_the_canary_is_broken_in_the_call_that_is_killed_in(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding a doubled send says nothing of how opt-outs are looked at."""
    monkeypatch.chdir(tmp_path)

    assert cli._status(["crash", "--kills", "2", "--seed", "1", "--call", "suppress"]) == 0

    text = capsys.readouterr().out
    assert "Canary: a mailbox broken on purpose (without_suppression_before_release)" in text
    assert "by suppression.wins" in " ".join(text.split())
    assert "\n2 kills: suppress 2\n" in text


def test_a_target_without_keys_is_not_applicable(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retry can't be told from a new message there: that is no pass."""
    monkeypatch.chdir(tmp_path)
    arguments = ["--target", "tests.support.gate_targets:LeasesOnly", "--kills", "2", "--json"]

    assert cli._status(["crash", *arguments]) == 5

    (race,) = json.loads(capsys.readouterr().out)["races"]
    assert race["reason"] == "the target does not declare idempotency, send"

    assert cli._status(["crash", *arguments, "--call", "cancel"]) == 5


def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli._status(["crash", "--kills", "0"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "0 is not in the range" in line
