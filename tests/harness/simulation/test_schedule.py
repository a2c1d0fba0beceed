"""Schedules as text: what is cut, foreign or of another version is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.simulation.again import replay_schedule, write_test
from leaserace.harness.simulation.explore import Nondeterministic
from leaserace.harness.simulation.schedule import (
    Recorded,
    Schedule,
    _sources,
    code_hash,
    load,
    save,
)
from leaserace.reference_impl.target import target as reference
from tests.support.toy import ToyTarget

SCHEDULE = Schedule(
    subject="prog.ASL.AS",
    policy="cooldown",
    code="0123abcd.4567cdef.89ab0123",
    choices=(0, 0, 1, 17, 0),
    coarse=True,
)
OTHER_RULES = "0" * 8


def clean_choices(subject: str) -> tuple[int, ...]:
    from leaserace.harness.simulation.driver import Bounds
    from leaserace.harness.simulation.run import Runner
    from leaserace.harness.simulation.strategies.replay import Replay
    from leaserace.harness.simulation.subjects import parse

    with Runner(ToyTarget()) as runner:
        lenient = Replay((), strict=False)
        return tuple(runner.run(parse(subject), "plain", lenient, Bounds()).trail)


def test_text_gives_back_the_schedule() -> None:
    text = SCHEDULE.to_text()
    assert Schedule.from_text(text) == SCHEDULE
    assert text.isprintable()
    assert " " not in text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SCHEDULE.to_text()[:-3], "cut or changed"),
        (SCHEDULE.to_text()[:20], "cut or changed"),
        (SCHEDULE.to_text().replace("ASL", "AAL"), "cut or changed"),
        (SCHEDULE.to_text().replace("lr1/", "lr9/"), "version 'lr9'"),
        ("", "no file of one"),
        ("no/such/file.txt", "no file of one"),
    ],
)
def test_what_is_no_schedule_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        load(text)


def test_a_subject_or_policy_there_is_not_is_refused() -> None:
    from dataclasses import replace

    with pytest.raises(UsageError, match="no letter"):
        Schedule.from_text(replace(SCHEDULE, subject="prog.A7").to_text())
    with pytest.raises(UsageError, match="no policy variant is called 'warm'"):
        Schedule.from_text(replace(SCHEDULE, policy="warm").to_text())


def test_a_file_carries_the_line_that_runs_it_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "one.txt"
    save(
        path,
        SCHEDULE,
        target="my.mod:T",
        finding="it went wrong",
        trace="0" * 32,
        rule="leases.one_live",
    )
    text = path.read_text(encoding="utf-8")
    assert f"leaserace replay --target my.mod:T {SCHEDULE.to_text()}" in text
    assert load(str(path)) == Recorded(schedule=SCHEDULE, trace="0" * 32, rule="leases.one_live")


def code_of(toy: ToyTarget, *, rules: str = "", harness: str = "") -> str:
    """The code that runs it now, or other rules, or another harness."""
    target, own_rules, own_harness = code_hash(toy).split(".")
    return f"{target}.{rules or own_rules}.{harness or own_harness}"


def test_the_code_of_a_schedule_names_target_rules_and_harness() -> None:
    target, *ours = code_hash(ToyTarget()).split(".")
    other_target, *same = code_hash(reference).split(".")
    assert SCHEDULE.identity == ("0123abcd", "4567cdef", "89ab0123")
    assert target != other_target
    assert ours == same
    assert len({target, *ours}) == 3
    judged_by = {path.name for path in _sources("leaserace.harness.rules")}
    assert {"base.py", "leases.py", "tokens.py"} <= judged_by


def test_a_schedule_of_other_code_says_so_and_where_it_diverges() -> None:
    with pytest.raises(UsageError, match=r"at step 4: .*recorded with code 0123abcd"):
        replay_schedule(
            ToyTarget(),
            Schedule(subject="prog.A", policy="plain", code="0123abcd", choices=(0, 0, 0, 1)),
        )


def test_a_schedule_of_this_code_that_diverges_is_the_harness_own_fault() -> None:
    toy = ToyTarget()
    schedule = Schedule(subject="prog.A", policy="plain", code=code_hash(toy), choices=(0, 0, 1))
    with pytest.raises(Nondeterministic, match="though the code is the same"):
        replay_schedule(toy, schedule)


def test_another_trace_under_the_same_code_is_hidden_nondeterminism() -> None:
    toy = ToyTarget()
    schedule = Schedule(
        subject="prog.A", policy="plain", code=code_hash(toy), choices=clean_choices("prog.A")
    )
    outcome, notices = replay_schedule(toy, schedule)
    assert notices == []
    replay_schedule(toy, schedule, outcome.trace_hash())
    with pytest.raises(Nondeterministic, match="hidden nondeterminism"):
        replay_schedule(toy, schedule, "f" * 32)


def cut_schedule(code: str) -> Schedule:
    """A run that ended early, as one does in which a rule has a finding."""
    choices = clean_choices("prog.AS.A")[:-4]
    return Schedule(subject="prog.AS.A", policy="plain", code=code, choices=choices)


def test_where_rules_were_mended_a_finding_that_is_gone_is_said_to_be_gone() -> None:
    """The run goes on where the old rule ended it; that is nobody's nondeterminism."""
    toy = ToyTarget()
    then = code_of(toy, rules=OTHER_RULES)
    with pytest.raises(
        UsageError,
        match=r"rules have changed since: .* 00000000, .*; the finding leases.one_live no longer",
    ):
        replay_schedule(toy, cut_schedule(then), "f" * 32, rule="leases.one_live")
    with pytest.raises(UsageError, match=r"the finding that ended the run no longer holds"):
        replay_schedule(toy, cut_schedule(then))


def test_a_run_that_goes_on_after_its_schedule_under_the_same_rules_is_our_fault() -> None:
    toy = ToyTarget()
    with pytest.raises(Nondeterministic, match="though the code is the same"):
        replay_schedule(toy, cut_schedule(code_hash(toy)), rule="leases.one_live")


def test_a_finding_of_the_end_that_other_rules_do_not_have_is_said_to_be_gone() -> None:
    toy = ToyTarget()
    schedule = Schedule(
        subject="prog.A",
        policy="plain",
        code=code_of(toy, rules=OTHER_RULES),
        choices=clean_choices("prog.A"),
    )
    _, notices = replay_schedule(toy, schedule, "f" * 32, rule="audit.refusal_has_state")
    assert len(notices) == 2
    assert "the rules have changed since" in notices[0]
    assert notices[1] == "the finding audit.refusal_has_state no longer holds"
    _, notices = replay_schedule(toy, schedule)
    assert len(notices) == 1


def test_other_rules_can_not_make_a_recorded_choice_impossible() -> None:
    toy = ToyTarget()
    code = code_of(toy, rules=OTHER_RULES)
    schedule = Schedule(subject="prog.A", policy="plain", code=code, choices=(0, 0, 1))
    with pytest.raises(UsageError, match=r"at step 3: .*the rules have changed since"):
        replay_schedule(toy, schedule)


def test_another_leaserace_is_said_and_no_nondeterminism() -> None:
    """Who makes the choices, and what agents do with an answer, is ours and changes too."""
    toy = ToyTarget()
    code = code_of(toy, harness=OTHER_RULES)
    with pytest.raises(
        UsageError, match=r"has ended and .* \(leaserace has changed since: recorded"
    ):
        replay_schedule(toy, cut_schedule(code), rule="leases.one_live")
    schedule = Schedule(
        subject="prog.A", policy="plain", code=code, choices=clean_choices("prog.A")
    )
    _, notices = replay_schedule(toy, schedule, "f" * 32)
    assert len(notices) == 1
    assert notices[0].startswith("leaserace has changed since: recorded with 00000000, run with")


def test_a_schedule_from_before_rules_were_told_is_still_read_and_run() -> None:
    """The version is the same: what it does not tell is said only where it matters."""
    toy = ToyTarget()
    code, _, _ = code_hash(toy).partition(".")
    choices = clean_choices("prog.A")
    text = Schedule(subject="prog.A", policy="plain", code=code, choices=choices).to_text()
    schedule = Schedule.from_text(text)
    assert schedule.identity == (code, "", "")
    outcome, notices = replay_schedule(toy, schedule)
    assert notices == []
    assert replay_schedule(toy, schedule, outcome.trace_hash())[1] == []
    _, notices = replay_schedule(toy, schedule, "f" * 32)
    assert notices == [
        "the schedule is too old to tell which rules judged it; its trace is another now"
    ]
    with pytest.raises(UsageError, match=r"too old to tell .*; the finding that ended the run no"):
        replay_schedule(toy, cut_schedule(code))
    with pytest.raises(UsageError, match=rf"at step 3: .*recorded with code {code}, run with"):
        replay_schedule(
            toy, Schedule(subject="prog.A", policy="plain", code=code, choices=(0, 0, 1))
        )


def test_a_schedule_can_be_kept_as_a_pytest_file(tmp_path: Path) -> None:
    path = tmp_path / "test_kept.py"
    schedule = Schedule(
        subject="prog.A", policy="plain", code="0" * 8, choices=clean_choices("prog.A")
    )
    write_test(path, schedule, target="tests.support.toy:toy", rule="leases.one_live")
    scope: dict[str, object] = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), scope)
    scope["test_leases_one_live"]()  # type: ignore[operator]
