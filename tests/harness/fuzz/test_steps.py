"""Plans as text: they come back as they were, and what is none is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.contract import UsageError
from leaserace.harness.fuzz.steps import (
    AGENT,
    OF_NOBODY,
    PERSON,
    Cause,
    Habit,
    Moment,
    Plan,
    Shape,
    Side,
    Step,
    Token,
    Trouble,
    Verb,
)
from tests.harness.fuzz.support import EXPLICIT, plan_of

OPTIONS = [
    "",
    *(str(cause) for cause in Cause),
    PERSON,
    AGENT,
    *(f"{moment}-{side}" for moment in Moment for side in Side),
    "3600s",
    "-90s",
]
POINTS = ["send.checked", "acquire.think", "audit.put_off"]


@st.composite
def steps(draw: st.DrawFn) -> Step:
    verb = draw(st.sampled_from(Verb))
    trouble = draw(st.sampled_from(Trouble))
    is_aimed = trouble in {Trouble.PAUSE, Trouble.CRASH}
    return Step(
        verb=verb,
        agent=0 if verb in OF_NOBODY else draw(st.integers(0, 15)),
        contact=draw(st.integers(0, 3)),
        spelling=draw(st.integers(0, 3)),
        token=draw(st.sampled_from(Token)),
        back=draw(st.integers(0, 3)),
        habit=draw(st.sampled_from(Habit)),
        trouble=trouble,
        point=draw(st.sampled_from(POINTS)) if is_aimed else "",
        option=draw(st.sampled_from(OPTIONS)),
    )


shapes = st.builds(
    Shape,
    agents=st.integers(2, 4),
    contacts=st.integers(1, 2),
    replicas=st.integers(0, 1),
    lease_s=st.sampled_from((60.0, 0.4)),
    cooldown_s=st.sampled_from((0.0, 300.0)),
    window_s=st.sampled_from((86_400.0, 1.5)),
)


@EXPLICIT
@given(st.builds(Plan, shape=shapes, steps=st.lists(steps(), max_size=8).map(tuple)))
def test_a_plan_comes_back_from_its_text(plan: Plan) -> None:
    text = plan.to_text()

    assert Plan.from_text(text) == plan
    assert not set(text) & set(" '\"$`\\;|&<>()*?[]{}!~"), "no shell must touch it"


@EXPLICIT
@given(st.builds(Plan, shape=shapes, steps=st.lists(steps(), min_size=2, max_size=6).map(tuple)))
def test_a_plan_that_was_cut_is_refused(plan: Plan) -> None:
    text = plan.to_text()

    with pytest.raises(UsageError, match="cut or changed"):
        Plan.from_text(text[:-1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lf9//a.acquire/0000", "is of version 'lf9'; this leaserace reads 'lf1'"),
        ("lr1/prog.A/plain/x/a/b", "is of version 'lr1'"),
        ("", "is of version ''"),
    ],
)
def test_another_text_is_refused_by_its_version(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Plan.from_text(text)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("a.dance", "'dance'"),
        ("z.acquire", "'z' is no agent"),
        ("a.acquire.x9", "'x9' says nothing of a step"),
        ("a.send.tmine", "'mine'"),
        ("a.send@sleep", "'sleep'"),
    ],
)
def test_a_step_that_is_none_is_named(step: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Step.from_text(step)


def test_a_plan_without_some_steps_is_a_plan() -> None:
    plan = plan_of("a.acquire,b.acquire,a.send")

    assert plan.without([1]) == plan_of("a.acquire,a.send")
