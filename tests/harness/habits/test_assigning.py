"""Which agent has which habit, and what is said of a mistake."""

from __future__ import annotations

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.errand import WELL_BEHAVED, Errand
from leaserace.harness.habits import HABITS, habit
from leaserace.harness.habits.assign import Assignments, role_of
from leaserace.harness.simulation.habits import subjects_with
from leaserace.harness.simulation.subjects import parse


def test_there_are_fourteen_habits_and_the_first_is_the_good_one() -> None:
    """spec: A3, K9, O2, O3"""
    assert len(HABITS) == 14
    assert next(iter(HABITS)) == WELL_BEHAVED
    assert habit(WELL_BEHAVED).errand is Errand
    for name, each in HABITS.items():
        assert each.name == name
        assert issubclass(each.errand, Errand)
        assert each.spec


def test_each_bad_habit_is_told_by_a_rule_and_a_good_one_by_none() -> None:
    """spec: A3"""
    good = {each.name for each in HABITS.values() if not each.breaks}
    assert good == {WELL_BEHAVED, "new-run-id-with-checkpoints"}
    assert all("agent.habits" in each.breaks for each in HABITS.values() if each.breaks)


def test_an_agents_own_habit_goes_before_its_roles_and_that_before_everybodys() -> None:
    given = Assignments(["all=blind-retry", "sales=old-token", "sales-01=uuid-per-call"])

    def name(agent: str, role: str = "") -> str:
        found = given.of(agent, role)
        return found.name if found else ""

    assert name("sales-01") == "uuid-per-call"
    assert name("sales-02") == "old-token"
    assert name("support-01", "sales") == "old-token"
    assert name("digest-01") == "blind-retry"
    assert Assignments(["sales=old-token"]).of("digest-01") is None
    assert role_of("agent-07") == "agent"
    assert not Assignments()


def test_of_two_for_the_same_agent_the_later_one_holds() -> None:
    given = Assignments(["sales=old-token", " sales = blind-retry "])
    assert given.texts == ("sales=blind-retry",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sales", "write WHO=HABIT, such as sales=uuid-per-call"),
        ("=old-token", "write WHO=HABIT"),
        ("sales=", "write WHO=HABIT"),
        ("sales=uuid", "no habit is called 'uuid'; did you mean uuid-per-call?"),
        ("sales=old-tokens", "did you mean old-token?"),
        ("sales=kind", "there are well-behaved, blind-retry"),
        ("sale=old-token", "no agent is called 'sale'; did you mean sales or sales-01?"),
        ("boss=old-token", "there are sales, sales-01, all"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Assignments([text]).check(["sales-01"], ["sales"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_subject_carries_a_habit_and_without_one_it_means_what_it_always_did() -> None:
    """spec: A3: a schedule names it, so a replay repeats it."""
    with_one = parse("play.sequence-2_0~uuid-per-call.support")
    plain = parse("play.sequence-2_0.support")
    first, second = with_one.seats
    assert first.args == {**plain.seats[0].args, "habit": "uuid-per-call"}
    assert second == plain.seats[1]
    assert first.kind != plain.seats[0].kind
    with pytest.raises(UsageError, match="did you mean uuid-per-call"):
        parse("play.sales~uuid")


def test_a_fan_out_writes_to_every_person() -> None:
    """spec: K7"""
    subject = parse("play.fanout~one-key-for-many")
    assert set(subject.contacts) == {"contact-1", "contact-2"}
    assert subject.seats[0].args["others"] == [["contact-2", "john.roe@gmail.com"]]


def test_habits_are_put_into_the_subjects_that_seat_such_agents() -> None:
    given = Assignments(["support=old-token", "sales-01=blind-retry"])
    asked = ("play.sales.support", "play.sales_1.@sales.optout", "play.digest~old-token.digest")
    assert subjects_with(given, asked) == (
        "play.sales~blind-retry.support~old-token",
        "play.sales_1~blind-retry.@sales~blind-retry.optout",
        "play.digest~old-token.digest",
    )
    drawn = subjects_with(Assignments(["digest=old-token"]), ())
    assert drawn == ("play.digest~old-token.sales.optout",)
    assert subjects_with(Assignments(), ("prog.ASL",)) == ("prog.ASL",)


@pytest.mark.parametrize(
    ("habit_text", "subjects", "said"),
    [
        ("sales=old-token", ("prog.ASL",), "only agents with playbooks have habits"),
        ("optout=old-token", (), "no agent is called 'optout'"),
        ("digest=old-token", ("play.sales",), "no agent of what runs is called so"),
    ],
)
def test_a_habit_that_nobody_can_have_is_refused(
    habit_text: str, subjects: tuple[str, ...], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        subjects_with(Assignments([habit_text]), subjects)
