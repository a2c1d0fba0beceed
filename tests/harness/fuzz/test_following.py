"""What is likely next, by where a run stands; what can't be made is not drawn."""

from __future__ import annotations

import pytest

from leaserace.harness.contract import Capability, Target
from leaserace.harness.fuzz.chances import Draw
from leaserace.harness.fuzz.following import USUAL, follow, weights_of
from leaserace.harness.fuzz.moves import step_of
from leaserace.harness.fuzz.simulated import SimStand
from leaserace.harness.fuzz.steps import Habit, Moment, Shape, Step, Verb
from leaserace.harness.targets import load_target
from tests.harness.fuzz.support import REFERENCE, plan_of
from tests.support.toy import ToyTarget

BREAKER = Shape(contacts=3, breaker=1)
MANY = range(400)


def likely(text: str, shape: Shape | None = None, target: Target | None = None) -> dict[Verb, int]:
    """The weights after these steps."""
    with SimStand(target or load_target(REFERENCE)) as stand:
        stage = stand.begin(shape or Shape())
        for step in plan_of(text).steps:
            assert stage.do(step), step
        weights = weights_of(stage)
        stand.end()
    return weights


def drawn(verb: Verb | None, text: str, shape: Shape | None = None) -> list[Step]:
    """What is drawn after these steps, often; any verb for None."""
    with SimStand(load_target(REFERENCE)) as stand:
        stage = stand.begin(shape or Shape())
        for step in plan_of(text).steps:
            assert stage.do(step), step
        made = [
            follow(stage, Draw(code)) if verb is None else step_of(verb, stage, Draw(code))
            for code in MANY
        ]
        stand.end()
    return [step for step in made if step is not None]


@pytest.mark.parametrize(
    ("steps", "verbs"),
    [
        ("a.acquire,a.send@silent", {Verb.LOOKUP, Verb.TIME}),
        ("a.acquire,a.send@silent,time.days-after", {Verb.CLEAN_UP, Verb.RETRY, Verb.LOOKUP}),
        ("a.acquire,a.send@silent,time.days-after,b.clean-up", {Verb.RETRY}),
        ("a.acquire,a.send@refuse", {Verb.RETRY}),
        ("a.acquire,a.send@crash-send.recorded", {Verb.RESTART, Verb.TIME}),
        ("a.acquire,a.send@crash-send.recorded,a.restart", {Verb.RETRY, Verb.TIME}),
        ("a.acquire,a.send@pause-send.recorded", {Verb.SUPPRESS, Verb.TIME, Verb.RETRY}),
        ("a.suppress.opt-out", {Verb.CLEAR, Verb.CLEAN_UP}),
        ("a.override.person", {Verb.SEND}),
    ],
)
def test_a_story_that_has_begun_is_likely_to_go_on(steps: str, verbs: set[Verb]) -> None:
    weights = likely(steps)

    assert all(weights[verb] > USUAL[verb] for verb in verbs - {Verb.CLEAR})
    assert verbs <= set(weights)


def test_after_a_halt_others_send() -> None:
    """It must bind them too (spec: O5)."""
    halted = "a.acquire,b.acquire.c1,a.send,a.suppress.bounce.c2,a.send"

    assert likely(halted, BREAKER)[Verb.SEND] == max(likely(halted, BREAKER).values())
    sends = [step for step in drawn(Verb.SEND, halted, BREAKER) if step.verb is Verb.SEND]
    assert sum(step.agent == 1 and step.contact == 1 for step in sends) > len(sends) / 2


def test_an_override_is_asked_for_where_a_cooldown_binds() -> None:
    steps = "a.acquire,a.send,a.send"

    assert likely(steps, Shape(cooldown_s=300.0))[Verb.OVERRIDE] > 0
    assert Verb.OVERRIDE not in likely(steps)


def test_a_target_is_not_asked_for_what_it_can_not_do() -> None:
    weights = likely("a.acquire,a.send", target=ToyTarget())

    assert not {Capability.OVERRIDE, Capability.INBOUND} & ToyTarget.capabilities
    assert not {Verb.OVERRIDE, Verb.RECEIVE} & set(weights)
    assert Verb.OVERRIDE in likely("a.acquire,a.send,a.send", Shape(cooldown_s=300.0))


def test_a_passage_of_time_is_to_what_is_waited_for() -> None:
    passages = drawn(Verb.TIME, "a.acquire,a.send@silent")
    moments = [step.option.partition("-")[0] for step in passages]

    awaited = sum(each in {Moment.DEADLINE, Moment.DAYS} for each in moments)
    assert awaited > len(moments) / 2
    assert Moment.COOLDOWN not in moments, "there is none"


def test_whoever_keeps_the_store_busy_goes_on() -> None:
    steps = "a.acquire@pause-acquire.read,b.acquire"

    resumed = [step for step in drawn(Verb.SEND, steps) if step.verb is Verb.RESUME]
    assert len(resumed) > len(MANY) / 2


def test_a_message_is_readdressed_only_where_there_is_another_contact() -> None:
    sent = "a.acquire,a.send"
    alone, two = drawn(Verb.RETRY, sent), drawn(Verb.RETRY, sent, Shape(contacts=2))

    assert all(step.habit is not Habit.READDRESSED for step in alone)
    assert {step.contact for step in two if step.habit is Habit.READDRESSED} == {1}
    assert {step.verb for step in drawn(None, sent)} > {Verb.SEND, Verb.RETRY, Verb.ACQUIRE}
