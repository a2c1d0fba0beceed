"""Each habit on both engines, against the reference: what it does, and what comes of it.

A correct mailbox joins tries that carry one key, and refuses what has lost its lease. It can't join
tries under several keys (spec: K9): then mail is doubled, unless a cooldown or a layer in the agent's
own application stops it (spec: O1).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leaserace.harness import Race, Settings
from leaserace.harness.engine import Engine
from leaserace.harness.habits import HABITS
from leaserace.harness.judging import result_of
from leaserace.harness.playbooks import fan_out, sales_follow_up
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.simulation.engine import SimulationEngine
from leaserace.harness.targets import load_target
from tests.support.habits import (
    SECONDS,
    Told,
    args_of,
    play,
    play_against,
    play_restarted,
    told,
)

PLAIN = Settings(lease_s=30.0, cooldown_s=0.0)
COOLING = Settings(lease_s=30.0, cooldown_s=60.0)
SHORT_LEASE = Settings(lease_s=0.3, cooldown_s=0.0)
SHORT_WINDOW = Settings(lease_s=30.0, cooldown_s=0.0, key_window_s=0.3)

BAD_KEYS = ("time-in-key", "uuid-per-call", "model-writes-key", "rewords-body")
"""Habits that give a retry another key."""


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessEngine]:
    folder: Path = tmp_path_factory.mktemp("run")
    with ProcessEngine("reference", folder, seed=3) as started:
        yield started


@pytest.fixture(params=["simulation", pytest.param("processes", marks=pytest.mark.process)])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "processes":
        found: Engine = request.getfixturevalue("processes")
        return found
    return SimulationEngine(load_target("reference"), seed=3)


def duplicates(told_: Told) -> int:
    """Messages that arrived again; the mailbox is right in every case."""
    result, _ = result_of(told_.run)
    assert result.findings == ()
    return result.duplicates


def test_a_well_behaved_agent_looks_a_lost_reply_up_and_sends_nothing_again(
    engine: Engine,
) -> None:
    """spec: A1, R"""
    seen = play(engine, "well-behaved", settings=PLAIN)
    assert seen.seen() == ["acquire ok", "send reply_lost", "lookup ok", "release ok"]
    assert duplicates(seen) == 0


@pytest.mark.parametrize("habit", BAD_KEYS)
def test_another_key_at_each_try_doubles_mail_though_the_mailbox_is_correct(
    engine: Engine, habit: str
) -> None:
    """spec: K9, O1: layer one alone does not stop it."""
    seen = play(engine, habit, settings=PLAIN)
    assert seen.seen() == ["acquire ok", "send reply_lost", "lookup ok", "send ok", "release ok"]
    assert len({key.strip().casefold() for key in seen.keys}) == 2
    assert duplicates(seen) == 1
    assert HABITS[habit].doubles


@pytest.mark.parametrize("habit", BAD_KEYS)
def test_a_cooldown_stops_what_a_bad_key_lets_through(engine: Engine, habit: str) -> None:
    """spec: K9, C2"""
    seen = play(engine, habit, settings=COOLING)
    assert seen.seen("send") == ["send reply_lost", "send cooldown_active"]
    assert duplicates(seen) == 0


def test_the_time_in_a_key_is_the_agents_own(engine: Engine) -> None:
    """spec: K9, L5: an agent whose clock is an hour ahead puts that into the key."""

    def skewed(race: Race) -> None:
        first, second = race.agents
        first.skew(3600.0)
        for actor in (first, second):
            args = args_of(race.contact(), "time-in-key")
            race.engage(actor, sales_follow_up, args, SECONDS).wait()

    seen = told(engine, skewed, PLAIN)
    times_ms = [
        int(op.args["message"]["key"].rpartition(":")[2])
        for agent in ("sales-01", "support-01")
        for op in seen.calls("send", agent=agent)
    ]
    assert times_ms[0] - times_ms[1] == pytest.approx(3_600_000, abs=60_000)


def test_a_model_keeps_the_letters_of_a_key_and_nothing_else(engine: Engine) -> None:
    """spec: K1, K3, K9: case and outer spaces are folded by the mailbox, dashes are not."""
    seen = play(engine, "model-writes-key", settings=PLAIN)
    plain = {key.strip().casefold().replace("-", "").replace("_", "") for key in seen.keys}
    assert len(seen.keys) == 2
    assert len(plain) == 1


def test_a_reworded_body_is_another_payload_of_one_message(engine: Engine) -> None:
    """spec: X14, K7"""
    seen = play(engine, "rewords-body", settings=PLAIN)
    messages = [op.args["message"] for op in seen.calls("send")]
    assert len({message["body"] for message in messages}) == 2
    assert len({message["intent"] for message in messages}) == 1


def test_a_blind_retry_repeats_at_once_and_the_mailbox_replays(engine: Engine) -> None:
    """spec: A1, K2: the key is the same, so nothing is doubled."""
    seen = play(engine, "blind-retry", settings=PLAIN)
    assert seen.seen() == ["acquire ok", "send reply_lost", "send ok", "release ok"]
    assert seen.calls("send")[1].answer["replay"]
    assert duplicates(seen) == 0


def test_a_blind_retry_sends_a_refused_message_again(engine: Engine) -> None:
    """spec: A1, C1"""

    def suppressed(race: Race) -> None:
        first, second = race.agents
        contact = race.contact()
        second.suppress(contact)
        race.engage(first, sales_follow_up, args_of(contact, "blind-retry"), SECONDS).wait()

    seen = told(engine, suppressed, PLAIN)
    assert seen.seen("send") == ["send suppressed"] * 3
    assert len(set(seen.keys)) == 1
    assert seen.arrived == []


def test_one_key_over_a_fan_out_doubles_the_first_message_and_loses_the_others(
    engine: Engine,
) -> None:
    """spec: K7, K9, X18"""

    def three_recipients(race: Race) -> None:
        first, *others = (race.contact() for _ in range(3))
        args = args_of(
            first, "one-key-for-many", others=[[each.name, each.address] for each in others]
        )
        race.engage(race.agents[0], fan_out, args, SECONDS).wait()

    seen = told(engine, three_recipients, PLAIN)
    assert seen.seen("send") == ["send ok", "send key_reused", "send key_reused"] * 2
    assert len(set(seen.keys)) == 2
    assert [event.intent for event in seen.arrived] == ["run.sales-01.news"] * 2
    assert duplicates(seen) == 1


def test_a_well_behaved_fan_out_has_a_key_for_each_recipient(engine: Engine) -> None:
    """spec: K7"""

    def three_recipients(race: Race) -> None:
        first, *others = (race.contact() for _ in range(3))
        args = args_of(first, "well-behaved", others=[[each.name, each.address] for each in others])
        race.engage(race.agents[0], fan_out, args, SECONDS).wait()

    seen = told(engine, three_recipients, PLAIN)
    assert seen.seen("send", "release") == ["send ok", "release ok"] * 3
    assert len(set(seen.keys)) == 3
    assert duplicates(seen) == 0


def test_one_key_over_two_messages_to_one_person_doubles_the_first(engine: Engine) -> None:
    """spec: K7, K9: a mail and a note."""

    def one_recipient(race: Race) -> None:
        args = args_of(race.contact(), "one-key-for-many")
        race.engage(race.agents[0], sales_follow_up, args, SECONDS).wait()

    seen = told(engine, one_recipient, PLAIN)
    assert seen.seen("send") == ["send ok", "send key_reused"] * 2
    assert duplicates(seen) == 1


def test_an_old_token_is_sent_again_and_refused_each_time(engine: Engine) -> None:
    """spec: A1, S3: the lease has ended."""

    def alone(race: Race) -> None:
        args = args_of(race.contact(), "old-token")
        race.engage(race.agents[0], sales_follow_up, args, SECONDS).wait()

    seen = told(engine, alone, SHORT_LEASE)
    assert seen.seen("acquire", "renew", "send") == ["acquire ok", *["send lease_expired"] * 3]
    assert len({op.args["message"]["token"] for op in seen.calls("send")}) == 1
    assert seen.arrived == []


def test_an_old_token_is_refused_as_stale_once_somebody_else_holds_the_contact(
    engine: Engine,
) -> None:
    """spec: A1, S3, T2"""
    seen = play_against(engine, "old-token", "send.think", settings=SHORT_LEASE)
    assert set(seen.seen("send")) == {"send stale_fencing_token"}
    assert len(seen.calls("send")) == 3
    assert len(seen.arrived) == 1
    assert duplicates(seen) == 0


def test_a_detached_timer_renews_without_any_work(engine: Engine) -> None:
    """spec: A2, L6"""
    settings = Settings(lease_s=1.2, cooldown_s=0.0)

    def alone(race: Race) -> None:
        args = args_of(race.contact(), "detached-renewal")
        race.engage(race.agents[0], sales_follow_up, args, SECONDS).wait()

    seen = told(engine, alone, settings)
    assert seen.seen() == ["acquire ok", "send ok", *["renew ok"] * 4, "release ok"]
    renewals = seen.calls("renew")
    apart_s = (renewals[-1].invoked_ns - renewals[0].invoked_ns) / 1e9
    assert apart_s >= settings.lease_s * 0.99
    assert duplicates(seen) == 0


def test_a_failed_renewal_is_ignored_and_the_mailbox_refuses_the_send(engine: Engine) -> None:
    """spec: A2, L6, X12"""

    def alone(race: Race) -> None:
        args = args_of(race.contact(), "ignores-failed-renewal", patience=1)
        race.engage(race.agents[0], sales_follow_up, args, SECONDS).wait()

    seen = told(engine, alone, SHORT_LEASE)
    assert seen.seen("renew", "send") == ["renew lease_expired", "send lease_expired"]
    assert seen.arrived == []


def test_a_new_run_id_after_a_crash_doubles_mail(engine: Engine) -> None:
    """spec: O2: the first incarnation had sent."""
    seen = play_restarted(engine, "new-run-id", "release.think", SHORT_LEASE)
    assert len(set(seen.keys)) == 2
    assert duplicates(seen) == 1


def test_the_same_run_id_after_a_crash_is_a_replay(engine: Engine) -> None:
    """spec: O1, K2"""
    seen = play_restarted(engine, "well-behaved", "release.think", SHORT_LEASE)
    assert len(set(seen.keys)) == 1
    assert seen.calls("send")[-1].answer["replay"]
    assert duplicates(seen) == 0


def test_a_checkpoint_makes_a_new_run_id_harmless(engine: Engine) -> None:
    """spec: O1, O2: the finished step is not called again."""
    seen = play_restarted(engine, "new-run-id-with-checkpoints", "release.think", SHORT_LEASE)
    assert seen.seen("send") == ["send ok"]
    assert duplicates(seen) == 0


def test_a_crash_before_the_checkpoint_is_stopped_by_the_key(engine: Engine) -> None:
    """spec: O1: the run id was kept, so the step's second call is a replay."""
    seen = play_restarted(engine, "new-run-id-with-checkpoints", "send.returned", SHORT_LEASE)
    assert len(seen.calls("send")) == 2
    assert len(set(seen.keys)) == 1
    assert duplicates(seen) == 0


def test_a_run_after_the_window_sends_again_under_the_same_key(engine: Engine) -> None:
    """spec: O3, K5"""

    def daily(race: Race) -> None:
        args = args_of(race.contact(), "daily-after-window")
        race.engage(race.agents[0], sales_follow_up, args, SECONDS).wait()

    seen = told(engine, daily, SHORT_WINDOW)
    assert seen.seen("send") == ["send ok"] * 2
    assert len(set(seen.keys)) == 1
    assert duplicates(seen) == 1


def test_a_late_opt_out_lets_the_next_agent_write(engine: Engine) -> None:
    """spec: C3, O4: no mailbox can know of it yet."""
    seen = play_against(engine, "opt-out-late", "suppress.think", settings=PLAIN)
    assert seen.seen() == ["acquire ok", "send ok", "release ok", "suppress ok"]
    assert seen.seen("send", agent="support-01") == ["send ok"]
    assert [event.intent for event in seen.arrived][-1] == "run.support-01.follow-up"


def test_an_opt_out_in_time_is_written_before_the_release(engine: Engine) -> None:
    """spec: C3"""
    seen = play_against(engine, "well-behaved", "suppress.think", settings=PLAIN, opts_out=True)
    assert seen.seen() == ["acquire ok", "send ok", "suppress ok", "release ok"]
    assert seen.seen(agent="support-01") == ["acquire contact_owned"]
    assert len(seen.arrived) == 1
