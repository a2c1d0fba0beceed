"""Steps on the simulator: each does what its words say, and what can't be done is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaserace.harness.contract import AgentContext, Code, Lease, Refused
from leaserace.harness.fuzz.simulated import SimStand
from leaserace.harness.fuzz.stands import play
from leaserace.harness.fuzz.steps import Shape
from leaserace.harness.fuzz.words import tell
from leaserace.harness.targets import load_target
from leaserace.harness.verdict import Verdict
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.target import ReferenceTarget
from tests.harness.fuzz.support import REFERENCE, answers, plan_of, played, rules, texts, twin
from tests.support.toy import ToyTarget


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("a.acquire,b.acquire.s1", ["Lease", "contact_owned"]),
        ("a.acquire.s2,b.acquire.s3", ["Lease", "contact_owned"]),
        ("a.acquire,time.lease-before,b.acquire", ["Lease", "", "contact_owned"]),
        ("a.acquire,time.lease-at,b.acquire", ["Lease", "", "Lease"]),
        ("a.acquire,time.lease-after,a.renew", ["Lease", "", "lease_expired"]),
        ("a.acquire,a.renew,a.release", ["Lease", "Lease", "Released"]),
        ("a.acquire,a.send,a.retry", ["Lease", "Sent", "Sent"]),
        ("a.acquire,a.send,a.retry.hdrifted", ["Lease", "Sent", "Sent"]),
        ("a.acquire,a.send,a.retry.hreworded", ["Lease", "Sent", "key_reused"]),
        ("a.acquire,a.send,a.send,a.retry.hrekeyed", ["Lease", "Sent", "Sent", "key_reused"]),
        (
            "a.acquire,a.send@crash-send.recorded,a.restart,a.retry,time.deadline-after,a.retry",
            ["Lease", "NoReply", "", "send_in_progress", "", "Sent"],
        ),
        (
            "a.acquire,a.send@silent,time.days-after,a.clean-up,a.retry",
            ["Lease", "send_status_unknown", "", "Cleaned", "send_status_unknown"],
        ),
        ("a.acquire,a.send@silent,a.lookup", ["Lease", "send_status_unknown", "Found"]),
        ("a.acquire,a.send@refuse,a.retry", ["Lease", "invalid_message", "Sent"]),
        ("a.acquire,a.send@lose,a.retry", ["Lease", "NoReply", "Sent"]),
        ("a.acquire,b.suppress.opt-out,a.send", ["Lease", "Noted", "suppressed"]),
        ("a.suppress.bounce,a.clear.agent", ["Noted", "not_authorised"]),
        ("a.acquire,a.send.hno-key", ["Lease", "key_missing"]),
        ("a.acquire,a.send.hbad-key", ["Lease", "key_invalid"]),
        ("a.acquire,a.send.hno-address", ["Lease", "invalid_address"]),
        ("a.acquire,a.send.hbad-subject", ["Lease", "invalid_message"]),
        ("a.acquire,a.send.hcopied,a.send", ["Lease", "invalid_message", "Sent"]),
        ("a.acquire,a.send.hno-one-click", ["Lease", "invalid_message"]),
        ("a.acquire,a.send.hbad-key,a.cancel", ["Lease", "key_invalid", "key_invalid"]),
        ("a.acquire,b.send.tothers", ["Lease", "not_holder"]),
        (
            "a.acquire,time.lease-after,b.acquire,a.send",
            ["Lease", "", "Lease", "stale_fencing_token"],
        ),
        ("a.acquire@pause-acquire.read,b.acquire,a.resume", ["", "store_busy", "Lease"]),
        ("a.acquire@crash-acquire.read,a.restart,a.acquire", ["NoReply", "", "Lease"]),
        ("a.acquire,crash-store,a.clean-up,b.acquire", ["Lease", "", "Cleaned", "contact_owned"]),
        ("a.receive.question,b.receive.again", ["Taken", "Taken"]),
        ("a.receive.unsubscribe,a.acquire,a.send", ["Taken", "Lease", "suppressed"]),
        ("a.acquire,b.receive.unsubscribe@lose,a.send", ["Lease", "NoReply", "suppressed"]),
        ("a.acquire,a.send,b.cancel,a.retry", ["Lease", "Sent", "Found", "Sent"]),
        (
            "a.acquire,b.suppress.opt-out,a.send,b.cancel,b.clear.person,a.retry",
            ["Lease", "Noted", "suppressed", "Found", "Noted", "send_cancelled"],
        ),
        ("a.acquire,a.send.hanswered,a.retry.hanswered", ["Lease", "Sent", "Sent"]),
        ("a.acquire,a.send,a.retry.hanswered", ["Lease", "Sent", "key_reused"]),
        ("a.acquire,a.send.hforwarded,b.phone,a.renew", ["Lease", "Sent", "Noted", "Lease"]),
        ("a.acquire@pause-acquire.granted,crash-store,b.acquire", ["", "", "Lease"]),
        ("a.skew.3600s,a.acquire,a.renew", ["", "Lease", "Lease"]),
    ],
)
def test_a_step_is_answered_as_the_spec_says(steps: str, expected: list[str]) -> None:
    run = played(steps)

    assert answers(run) == expected
    assert run.verdict is Verdict.VALID


TWO = Shape(contacts=2)


def test_an_accent_and_a_domain_are_one_in_every_form() -> None:
    """spec: I2, I3."""
    run = played("a.acquire.c1,b.acquire.c1.s1,b.acquire.c1.s2,a.send.c1.s2", shape=TWO)

    assert answers(run) == ["Lease", "contact_owned", "contact_owned", "Sent"]
    assert run.verdict is Verdict.VALID


class OnlyAscii(ReferenceTarget):
    """Takes no address beyond ASCII."""

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        mailbox = super().connect(agent)
        acquire = mailbox.acquire

        def ascii_only(address: str) -> Lease | Refused:
            return acquire(address) if address.isascii() else Refused(code=Code.INVALID_ADDRESS)

        mailbox.acquire = ascii_only  # type: ignore[method-assign,assignment]
        return mailbox


def test_a_target_need_not_take_addresses_beyond_ascii() -> None:
    """It says so, and the other form of the domain is one it takes (spec: I4)."""
    run = played("a.acquire.c1,a.acquire.c0", target=OnlyAscii(), shape=TWO)

    assert answers(run) == ["invalid_address", "Lease"]
    assert run.verdict is Verdict.VALID


def test_who_folds_no_aliases_is_asked_for_no_other_form() -> None:
    run = played("a.acquire.c1.s3,b.acquire.c1.s2", ToyTarget(), shape=TWO)

    assert answers(run) == ["Lease", "contact_owned"]


def test_one_key_is_for_one_person() -> None:
    """In its window; behind it the same message is a new one (spec: K4, K5, K9)."""
    steps = "a.acquire,a.send,b.retry.c1.hreaddressed"
    late = f"{steps},time.window-after,b.acquire.c1,b.retry.c1.hreaddressed"

    assert answers(played(steps, shape=TWO))[-1] == "key_reused"
    behind = played(late, shape=Shape(contacts=2, window_s=30.0, cooldown_s=5.0))
    assert answers(behind)[-1] == "Sent"
    assert behind.verdict is Verdict.VALID


def test_only_to_another_person_a_message_is_readdressed() -> None:
    run = played("a.acquire,a.send,a.retry.hreaddressed,a.retry.b1,a.retry.hrekeyed")

    assert texts(run.plan.steps) == ["a.acquire", "a.send"]


def test_a_replica_retries_beside_its_agent() -> None:
    """Two processes under one id (spec: L3, X1)."""
    run = played("a.acquire,a.send@pause-send.recorded,c.retry,a.resume", shape=Shape(replicas=1))

    assert answers(run) == ["Lease", "", "send_in_progress", "Sent"]


@pytest.mark.parametrize("cause", ["bounce", "complaint"])
def test_a_bounce_halts_sending_to_everybody_where_a_breaker_is_asked_for(cause: str) -> None:
    """A person is needed before anybody is written to again (spec: O5)."""
    steps = f"a.acquire,a.send,a.suppress.{cause},a.acquire.c1,a.send.c1"

    calm = played(steps, shape=Shape(contacts=2))
    halted = played(steps, shape=Shape(contacts=2, breaker=1))

    assert answers(calm)[-1] == "Sent"
    assert answers(halted)[-1] == "sending_halted"
    assert calm.verdict is halted.verdict is Verdict.VALID


def test_a_budget_in_the_users_policy_is_no_finding(tmp_path: Path) -> None:
    """A person must approve what is beyond it (spec: O5)."""
    policy = tmp_path / "policy.toml"
    policy.write_text("budget_sends = 1\n", encoding="utf-8")
    plan = plan_of("a.acquire,a.send,a.acquire.c1,a.send.c1", Shape(contacts=2))

    with SimStand(load_target(REFERENCE), policy) as stand:
        run = play(stand, plan)

    assert answers(run)[-1] == "approval_required"
    assert run.verdict is Verdict.VALID


@pytest.mark.parametrize(
    ("safeguard", "steps", "shape"),
    [
        (
            "end_of_claims",
            "a.acquire,a.send@crash-send.recorded,a.restart,a.retry,time.days-after,a.retry",
            Shape(),
        ),
        ("kept_unknown", "a.acquire,a.send@silent,time.days-after,a.clean-up,a.retry", Shape()),
        (
            "shared_halt",
            "a.acquire,b.acquire.c1,a.send,a.suppress.bounce.c2,a.send,b.send.c1",
            Shape(contacts=3, breaker=1),
        ),
    ],
)
def test_some_things_are_certain_of_what_is_in_doubt(
    safeguard: str, steps: str, shape: Shape
) -> None:
    """A try ends, what arrived stays unknown, a halt binds everybody (spec: X9, K10, O5)."""
    assert "scenario.expected" in rules(played(steps, twin(safeguard), shape))
    assert played(steps, shape=shape).verdict is Verdict.VALID


def test_a_halt_may_have_an_end_of_its_own() -> None:
    """Once time has passed nobody can tell (spec: O5)."""
    steps = "a.acquire,b.acquire.c1,a.send,a.suppress.bounce.c2,a.send,time.second-after,b.send.c1"
    run = played(steps, twin("shared_halt"), Shape(contacts=3, breaker=1))

    assert run.verdict is Verdict.VALID


def test_an_opt_out_halts_nothing() -> None:
    steps = "a.acquire,a.send,a.suppress.opt-out,a.acquire.c1,a.send.c1"

    run = played(steps, shape=Shape(contacts=2, breaker=1))

    assert answers(run)[-1] == "Sent"


def test_a_halt_no_bounce_came_before_is_a_finding() -> None:
    """The model takes `sending_halted` only where it has a reason."""
    run = played("a.acquire,a.send", target=HaltedTarget())

    assert rules(run) == {"scenario.expected", "sends.halted"}


class HaltedTarget(ReferenceTarget):
    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        mailbox = super().connect(agent)
        mailbox.send = lambda _: Refused(code=Code.SENDING_HALTED)  # type: ignore[method-assign,assignment]
        return mailbox


def test_a_cooldown_binds_and_an_override_skips_it() -> None:
    run = played(
        "a.acquire,a.send,a.send,a.override.person,a.send,time.cooldown-after",
        shape=Shape(cooldown_s=300.0),
    )

    assert answers(run) == ["Lease", "Sent", "cooldown_active", "Noted", "Sent", ""]


def test_a_reply_need_not_use_an_override_up() -> None:
    """It may skip the cooldown by its kind (spec: C2, C4)."""
    run = played(
        "a.override.person,a.acquire,a.send,a.send.hreply,a.send,a.send",
        shape=Shape(cooldown_s=300.0),
    )

    assert answers(run)[2:] == ["Sent", "Sent", "Sent", "cooldown_active"]
    assert run.verdict is Verdict.VALID


@pytest.mark.parametrize(
    "steps",
    ["a.renew", "a.release", "a.send", "a.retry", "a.lookup", "a.resume", "a.restart"],
)
def test_a_step_that_can_not_be_made_is_left_out(steps: str) -> None:
    assert played(f"{steps},b.acquire").plan.steps == played("b.acquire").plan.steps


def test_a_late_event_is_told_only_after_a_person_cleared_the_contact() -> None:
    """Before that it would count (spec: C7)."""
    assert texts(played("a.suppress.late").plan.steps) == []
    assert len(played("a.clear.person,a.suppress.late,a.acquire,a.send").told) == 4


def test_who_stands_still_goes_on_at_the_end() -> None:
    run = played("a.acquire@pause-acquire.read")

    assert texts(run.plan.steps) == ["a.acquire@pause-acquire.read", "a.resume"]
    assert answers(run) == ["", "Lease"]


def test_a_point_that_is_not_reached_is_a_plain_call() -> None:
    run = played("a.acquire,b.acquire@pause-acquire.granted")

    assert texts(run.plan.steps) == ["a.acquire", "b.acquire"]


def test_the_model_says_more_than_the_rules_where_nothing_overlaps() -> None:
    """A send that is refused without a reason is a finding (spec: T)."""
    run = played("a.clear.person,a.suppress.late,a.acquire,a.send", twin("event_order"))

    assert "scenario.expected" in rules(run)


def test_a_target_with_few_capabilities_is_played_as_far_as_it_goes() -> None:
    run = played("a.acquire,b.acquire,a.send,a.retry", ToyTarget())

    assert answers(run) == ["Lease", "contact_owned", "Sent", "Sent"]
    assert run.verdict is Verdict.VALID


def test_steps_are_told_in_plain_words() -> None:
    run = played("a.acquire,time.lease-after,b.acquire.s1,a.send@pause-send.think,a.resume")

    assert tell(run) == [
        "2 agents, leases of 60 s and no cooldown.",
        "1. sales-01 claims the contact: granted, token 1",
        "2. time passes to just after the end of the last lease",
        "3. support-01 claims the contact in its second spelling: granted, token 2",
        "4. sales-01 sends a message to the contact and is paused at send.think",
        "5. sales-01 goes on: refused, stale_fencing_token",
    ]


def test_bad_keys_and_headers_are_told_in_plain_words_too() -> None:
    run = played(
        "a.acquire.s3,a.send.hcopied,a.send.hno-one-click,b.retry.c1.hreaddressed,a.retry.hrekeyed",
        shape=TWO,
    )

    assert [line.partition(":")[0] for line in tell(run)[1:]] == [
        "1. sales-01 claims the first contact in its fourth spelling",
        "2. sales-01 sends a message with others in its Cc to the first contact",
        "3. sales-01 sends a message with an opt-out that takes no one click to the first contact",
        "4. support-01 sends the last message again, to the second contact under the same key",
        "5. sales-01 sends the last message again, under the key of the one before it",
    ]
