"""Situations of an agent under test: each answer arises, habits are named, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leaserace.harness.agents.gate import habits_in, judge_situation
from leaserace.harness.agents.races import NEEDS, SITUATIONS, agent_scenario
from leaserace.harness.contract import Code, Target
from leaserace.harness.engine import Engine
from leaserace.harness.habits import HABITS
from leaserace.harness.history import MarkEvent
from leaserace.harness.outcome import AgentAnswer
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.simulation.engine import SimulationEngine
from leaserace.harness.targets import load_target
from leaserace.harness.verdict import Finding, Verdict

REFERENCE = "leaserace.reference_impl.target:target"
OURS = "leaserace.harness.agents.ours"
USERS = "tests.support.agents_of_users"
BAD = [name for name, each in HABITS.items() if each.breaks]
GOOD = [name for name, each in HABITS.items() if not each.breaks]
SHOWN_BY = {
    "blind-retry": "contact_owned",
    "old-token": "lease_expired",
    "new-run-id": "crash_after_send",
    "daily-after-window": "next_day",
    "ignores-failed-renewal": "sending_halted",
}
"""Habit to the situation that shows it; the others show in `lost_send`."""
QUICK = (
    "contact_owned",
    "cooldown_active",
    "stale_fencing_token",
    "renewal_overtaken",
    "suppressed",
    "send_status_unknown",
    "store_busy",
    "not_holder",
    "lost_lookup",
    "crash_after_send",
)
"""Situations that stand for all on real processes, where each takes up to a second."""


def agent(habit: str) -> str:
    return f"{OURS}:{habit.replace('-', '_')}"


def play(engine: Engine, name: str, situation: str) -> tuple[AgentAnswer, tuple[Finding, ...]]:
    scenario = agent_scenario(name)
    variant = next(each for each in scenario.variants if each.name == situation)
    result, answer = judge_situation(engine.run(scenario, variant, agents=2))
    return answer, result.findings


@pytest.fixture(scope="module")
def reference() -> Target:
    return load_target(REFERENCE)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("agents")
    with ProcessEngine(REFERENCE, folder, seed=1) as engine:
        yield engine


def test_every_code_of_spec_r_has_a_situation() -> None:
    """spec: A, R"""
    answered = {each.answer.partition(",")[0] for each in SITUATIONS.values()}
    assert {code.value for code in Code} <= answered


def test_every_call_of_an_agent_loses_its_reply_in_a_situation() -> None:
    """spec: A"""
    calls = ("acquire", "renew", "send", "lookup", "release", "suppress")
    assert {f"lost_{f}" for f in calls} <= set(SITUATIONS)


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_well_behaved_agent_is_given_every_answer_in_virtual_time(
    reference: Target, situation: str, seed: int
) -> None:
    """spec: A1, A2"""
    answer, findings = play(
        SimulationEngine(reference, seed=seed), agent("well-behaved"), situation
    )
    assert answer.verdict is Verdict.VALID, (answer.why, findings)
    assert answer.given


@pytest.mark.parametrize("habit", GOOD)
def test_a_good_habit_has_no_finding_in_virtual_time(reference: Target, habit: str) -> None:
    """spec: A3"""
    for situation in SITUATIONS:
        answer, findings = play(SimulationEngine(reference, seed=3), agent(habit), situation)
        assert answer.verdict is Verdict.VALID, (situation, answer.why, findings)


@pytest.mark.parametrize("habit", BAD)
def test_a_bad_habit_is_recognised_by_its_name_in_virtual_time(
    reference: Target, habit: str
) -> None:
    """spec: A3, K9"""
    named: set[str] = set()
    for situation in SITUATIONS:
        _, findings = play(SimulationEngine(reference, seed=3), agent(habit), situation)
        named |= habits_in(findings)
    assert habit in named


@pytest.mark.process
@pytest.mark.parametrize("situation", QUICK)
def test_a_well_behaved_agent_is_given_answers_on_real_processes(
    processes: Engine, situation: str
) -> None:
    """spec: A1, A2, T3"""
    answer, findings = play(processes, agent("well-behaved"), situation)
    assert answer.verdict is Verdict.VALID, (answer.why, findings)
    assert answer.given


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("situation", [name for name in SITUATIONS if name not in QUICK])
def test_a_well_behaved_agent_is_given_every_other_answer_on_real_processes(
    processes: Engine, situation: str
) -> None:
    """spec: A1, A2, T3"""
    answer, findings = play(processes, agent("well-behaved"), situation)
    assert answer.verdict is Verdict.VALID, (answer.why, findings)
    assert answer.given


@pytest.mark.process
@pytest.mark.parametrize("habit", BAD)
def test_a_bad_habit_is_recognised_by_its_name_on_real_processes(
    processes: Engine, habit: str
) -> None:
    """spec: A3, K9"""
    answer, findings = play(processes, agent(habit), SHOWN_BY.get(habit, "lost_send"))
    assert answer.verdict is Verdict.INVALID, answer.why
    assert habit in habits_in(findings)
    assert answer.ops


@pytest.mark.parametrize("name", ["careful", "careful_coroutine"])
def test_a_plain_function_of_a_users_is_judged_the_same_way(reference: Target, name: str) -> None:
    """What it never calls does not apply; nothing else is left open (spec: A)."""
    for situation in SITUATIONS:
        engine = SimulationEngine(reference, seed=5)
        answer, findings = play(engine, f"{USERS}:{name}", situation)
        wanted = Verdict.NOT_APPLICABLE if "renew" in answer.f else Verdict.VALID
        assert answer.verdict is wanted, (situation, answer.why, findings)


def test_an_agent_that_retries_without_a_look_up_is_told_so(reference: Target) -> None:
    """spec: A1, K10"""
    engine = SimulationEngine(reference, seed=5)
    answer, _ = play(engine, f"{USERS}:careless", "lost_send")
    assert answer.verdict is Verdict.INVALID
    assert answer.did == ("send: reply lost", "send: replayed", "release: released")
    assert "without a look-up" in answer.why
    assert answer.right.startswith("look the key up")


def test_an_agent_that_ignores_an_opt_out_is_told_so(reference: Target) -> None:
    """spec: C3"""
    answer, findings = play(
        SimulationEngine(reference, seed=5), f"{USERS}:careless", "opt_out_received"
    )
    assert answer.verdict is Verdict.INVALID
    assert any("opted out: expected 0, observed 1" in each.message for each in findings)


def test_an_agent_that_sends_again_after_the_keys_window_is_told_so(reference: Target) -> None:
    """spec: O3"""
    answer, findings = play(SimulationEngine(reference, seed=5), f"{USERS}:careless", "next_day")
    assert answer.verdict is Verdict.INVALID
    assert habits_in(findings) == {"daily-after-window"}


def test_an_agent_that_does_nothing_has_passed_nothing(reference: Target) -> None:
    """spec: A"""
    for situation in SITUATIONS:
        answer, _ = play(SimulationEngine(reference, seed=5), f"{USERS}:idle", situation)
        assert answer.verdict is not Verdict.VALID, situation
        assert not answer.given


def test_an_agent_that_raises_is_named_with_its_last_line(reference: Target) -> None:
    answer, _ = play(SimulationEngine(reference, seed=5), f"{USERS}:raises", "contact_owned")
    assert answer.verdict is Verdict.VALID  # it was refused, and did nothing more
    assert answer.why.startswith(
        "the agent raised LookupError: no model today (agents_of_users.py:"
    )


def test_an_agent_that_goes_on_without_end_is_cut_off(reference: Target) -> None:
    engine = SimulationEngine(reference, seed=5)
    scenario = agent_scenario(f"{USERS}:hammers")
    variant = next(each for each in scenario.variants if each.name == "contact_owned")
    run = engine.run(scenario, variant, agents=2)
    (end,) = (e for e in run.history if isinstance(e, MarkEvent) and e.name == "agent.end")
    assert end.data["cut_off"] == "it made more than 300 calls"
    _, answer = judge_situation(run)
    assert answer.verdict is Verdict.INVALID


@pytest.mark.process
def test_an_agent_that_never_comes_back_is_cut_off_and_unknown(processes: Engine) -> None:
    answer, findings = play(processes, f"{USERS}:sleeps", "suppressed")
    assert not findings
    assert answer.verdict is Verdict.UNKNOWN
    assert "was cut off" in answer.why


@pytest.mark.process
def test_a_timer_that_nobody_ends_shows_after_the_agents_end(processes: Engine) -> None:
    """A thread of the agent's goes on renewing when its work is done (spec: A2)."""
    answer, findings = play(processes, f"{USERS}:with_timer", "clock_ahead")
    assert answer.verdict is Verdict.INVALID
    assert "agent.renewals" in answer.rules, findings


def test_in_the_simulator_an_agents_thread_is_refused_by_name(
    reference: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    seen: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_value))
    play(SimulationEngine(reference, seed=5), f"{USERS}:from_a_thread", "lost_acquire")
    assert "has one thread" in str(seen[0])


def test_the_history_says_whose_actions_are_judged(reference: Target) -> None:
    """spec: A3"""
    scenario = agent_scenario(agent("well-behaved"))
    run = SimulationEngine(reference, seed=1).run(scenario, scenario.variants[0], agents=2)
    marks = [event for event in run.history if isinstance(event, MarkEvent)]
    (mark,) = (event for event in marks if event.name == "agent.under_test")
    assert (mark.agent, mark.data["situation"]) == ("sales-01", scenario.variants[0].name)
    begin = next(event for event in marks if event.name == "agent.begin")
    assert begin.data["task"]["messages"][0]["intent"]


def test_a_situation_needs_what_an_agent_may_call() -> None:
    """A target that lacks it is "not applicable", never passed."""
    assert agent_scenario(agent("well-behaved")).needs == NEEDS
