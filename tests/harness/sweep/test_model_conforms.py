"""The compact model answers as the reference does, call by call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaserace.harness.contract import Code
from leaserace.harness.sweep.day import Day
from leaserace.harness.sweep.door import Compact, Door, Granted, Held
from leaserace.harness.sweep.exact import Exact
from leaserace.harness.sweep.lengths import (
    Cooldown,
    PolicyFile,
    cooldown_of,
    lengths_of,
    ms,
)
from leaserace.harness.sweep.plan import Plan, run_cell
from leaserace.harness.sweep.traffic import Traffic, day
from leaserace.reference_impl.policy import Policy
from leaserace.reference_impl.target import ReferenceTarget

POLICY = PolicyFile()


class Both:
    """Asks the model and the reference, and fails at the first answer that differs."""

    def __init__(self, model: Compact, reference: Exact) -> None:
        self.model, self.reference = model, reference
        self.codes: set[Code] = set()

    def acquire(self, agent: int, contact: int, now_ms: int) -> Granted | Held:
        answer: Granted | Held = self._same("acquire", agent, contact, now_ms)
        return answer

    def renew(self, agent: int, contact: int, token: int, now_ms: int) -> int | Code:
        answer: int | Code = self._same("renew", agent, contact, token, now_ms)
        return answer

    def release(self, agent: int, contact: int, token: int, now_ms: int) -> Code | None:
        answer: Code | None = self._same("release", agent, contact, token, now_ms)
        return answer

    def send(
        self, agent: int, contact: int, token: int, task: int, now_ms: int, *, is_reply: bool
    ) -> tuple[Code | None, int]:
        answer: tuple[Code | None, int] = self._same(
            "send", agent, contact, token, task, now_ms, is_reply=is_reply
        )
        return answer

    def _same(self, name: str, *arguments: int, **options: bool) -> Any:
        modelled = getattr(self.model, name)(*arguments, **options)
        real = getattr(self.reference, name)(*arguments, **options)
        assert modelled == real, (name, arguments)
        parts = real if isinstance(real, tuple) else (real,)
        self.codes.update(part for part in parts if isinstance(part, Code))
        return modelled


def both(lease_s: float, cooldown: Cooldown, agents: int) -> tuple[Compact, Exact]:
    exact = Exact(ReferenceTarget(), lease_s=lease_s, cooldown=cooldown, agents=agents)
    return Compact(lengths_of(lease_s, cooldown, POLICY)), exact


@pytest.mark.parametrize("cooldown", ["none", "by-policy", "7d", "20m"])
@pytest.mark.parametrize("lease_s", [4.0, 60.0, 300.0])
def test_every_answer_of_a_crowded_day_is_the_references(lease_s: float, cooldown: str) -> None:
    """spec: L3, L4, L6, L7, S3, S5, R2."""
    rule = cooldown_of(cooldown, POLICY)
    model, exact = both(lease_s, rule, agents=6)
    with exact:
        door = Both(model, exact)
        tasks = day(Traffic(contacts=4, per_hour=15.0, seed=7), 6)
        run = Day(door, tasks, lease_ms=ms(lease_s))
        run.run()

        assert run.conflicts > 50
        assert exact.transport.arrived == run.delivered
        assert Code.CONTACT_OWNED in door.codes


def test_the_crowded_days_reach_every_refusal_the_model_knows() -> None:
    """spec: R."""
    codes: set[Code] = set()
    for lease_s, cooldown in ((4.0, "20m"), (60.0, "20m"), (60.0, "none")):
        model, exact = both(lease_s, cooldown_of(cooldown, POLICY), agents=6)
        with exact:
            door = Both(model, exact)
            Day(
                door, day(Traffic(contacts=4, per_hour=15.0, seed=7), 6), lease_ms=ms(lease_s)
            ).run()
            codes |= door.codes

    assert codes >= {
        Code.CONTACT_OWNED,
        Code.APPROVAL_REQUIRED,
        Code.LEASE_EXPIRED,
        Code.STALE_FENCING_TOKEN,
        Code.COOLDOWN_ACTIVE,
    }


@pytest.mark.parametrize("after_ms", [9_999, 10_000, 10_001])
@pytest.mark.parametrize("what", ["acquire", "renew", "release", "send"])
def test_around_the_end_of_a_lease_the_model_answers_as_the_reference(
    what: str, after_ms: int
) -> None:
    """The end itself is outside (spec: L3)."""
    model, exact = both(10.0, cooldown_of("none", POLICY), agents=2)
    with exact:
        door: Door = Both(model, exact)
        door.acquire(0, 0, 0)
        if what == "acquire":
            assert (len(door.acquire(1, 0, after_ms)) == 3) == (after_ms >= 10_000)
        elif what == "renew":
            door.renew(0, 0, 1, after_ms)
        elif what == "release":
            door.release(0, 0, 1, after_ms)
        else:
            door.send(0, 0, 1, 1, after_ms, is_reply=True)


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["acquire", "renew", "release", "send", "reply"]),
        st.integers(0, 2),
        st.integers(0, 1),
        st.integers(-2, 1),
        st.sampled_from([0, 1, 5_000, 9_999, 10_000, 10_001, 60_000]),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(calls=CALLS, cooldown=st.sampled_from(["none", "by-policy", "60s"]))
def test_any_calls_in_any_order_are_answered_as_by_the_reference(
    calls: list[tuple[str, int, int, int, int]], cooldown: str
) -> None:
    """Also what no agent of a day does: foreign releases, tokens never issued (spec: L7, S3)."""
    model, exact = both(10.0, cooldown_of(cooldown, POLICY), agents=3)
    with exact:
        door: Door = Both(model, exact)
        now_ms, tokens = 0, {0: 0, 1: 0}
        for number, (what, agent, contact, off, passed_ms) in enumerate(calls):
            now_ms += passed_ms
            token = max(0, tokens[contact] + off)
            if what == "acquire":
                answer = door.acquire(agent, contact, now_ms)
                tokens[contact] += len(answer) == 3
            elif not tokens[contact]:
                continue
            elif what == "renew":
                door.renew(agent, contact, token, now_ms)
            elif what == "release":
                door.release(agent, contact, token, now_ms)
            else:
                door.send(agent, contact, token, number, now_ms, is_reply=what == "reply")


def test_an_exact_cell_has_the_figures_of_the_model() -> None:
    rule = cooldown_of("by-policy", POLICY)
    plan = Plan(
        agents=(4,),
        leases=(("60s", 60.0),),
        cooldowns=(rule,),
        traffic=Traffic(contacts=30, per_hour=10.0),
        policy=POLICY,
    )
    exact = Plan(
        agents=plan.agents,
        leases=plan.leases,
        cooldowns=plan.cooldowns,
        traffic=plan.traffic,
        policy=POLICY,
        exact_target="leaserace.reference_impl.target:target",
    )

    assert run_cell(plan, rule, ("60s", 60.0), 4) == run_cell(exact, rule, ("60s", 60.0), 4)


def test_without_a_policy_file_the_model_has_the_references_defaults() -> None:
    """spec: C2, R2."""
    reference = Policy()

    assert POLICY.commercial_s == reference.commercial_cooldown_s
    assert POLICY.transactional_s == reference.transactional_cooldown_s
    assert POLICY.escalate_after == reference.escalate_after
