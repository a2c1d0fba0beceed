"""Schedules as text: what is cut, foreign or of another version is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.simulation.again import replay_schedule, write_test
from leaserace.harness.simulation.explore import Nondeterministic
from leaserace.harness.simulation.schedule import Schedule, code_hash, load, save
from tests.support.toy import ToyTarget

SCHEDULE = Schedule(
    subject="prog.ASL.AS",
    policy="cooldown",
    code="0123abcd",
    choices=(0, 0, 1, 17, 0),
    coarse=True,
)


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
    save(path, SCHEDULE, target="my.mod:T", finding="it went wrong", trace="0" * 32)
    text = path.read_text(encoding="utf-8")
    assert f"leaserace replay --target my.mod:T {SCHEDULE.to_text()}" in text
    assert load(str(path)) == (SCHEDULE, "0" * 32)


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


def test_a_schedule_can_be_kept_as_a_pytest_file(tmp_path: Path) -> None:
    path = tmp_path / "test_kept.py"
    schedule = Schedule(
        subject="prog.A", policy="plain", code="0" * 8, choices=clean_choices("prog.A")
    )
    write_test(path, schedule, target="tests.support.toy:toy", rule="leases.one_live")
    scope: dict[str, object] = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), scope)
    scope["test_leases_one_live"]()  # type: ignore[operator]
