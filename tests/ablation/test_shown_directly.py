"""What each missing safeguard lets happen, in the fewest calls; on the reference it does not happen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness.contract import (
    Found,
    Lease,
    Noted,
    Received,
    Refused,
    Released,
    SendState,
    Sent,
    Taken,
    Target,
)
from leaserace.harness.targets import load_target
from leaserace.reference_impl.broken import twins
from leaserace.reference_impl.target import ReferenceTarget
from tests.ablation.around_the_send import AROUND
from tests.ablation.bench import (
    COOLDOWN_S,
    JANE,
    LEASE_MS,
    WINDOW_S,
    A,
    B,
    Bench,
    Demonstration,
    both_granted,
)

LONG_AGO_MS = 2 * 86_400_000
SHOWS: dict[str, Demonstration] = {}


def shows(demonstration: Demonstration) -> Demonstration:
    """Register what shows the twin of the function's name: True if the fault happened."""
    SHOWS[demonstration.__name__] = demonstration
    return demonstration


def taken_over(bench: Bench) -> tuple[Lease, Lease]:
    """A lease that ended, and its successor's."""
    lease = bench.lease(A)
    bench.expire()
    return lease, bench.lease(B)


def sent_and_handed_on(target: Target) -> bool:
    """Whether a second agent can write inside the cooldown."""
    bench = Bench(target, COOLDOWN_S)
    lease = bench.lease(A)
    bench.send(lease)
    bench.box(A).release(JANE, lease.token)
    return isinstance(bench.send(bench.lease(B), 2), Sent)


def retried_after_silence(target: Target) -> int:
    """Messages that arrive when the transport did not answer and the send is tried again."""
    bench = Bench(target)
    lease = bench.lease()
    bench.transport.behaviour = "silent"
    bench.send(lease)
    bench.transport.behaviour = "accept"
    bench.send(lease)
    return bench.arrived


@shows
def without_case_folding(target: Target) -> bool:
    return both_granted(target, "Jane@example.com", "jane@example.com")


@shows
def without_domain_alias(target: Target) -> bool:
    return both_granted(target, "jane@googlemail.com", "jane@gmail.com")


@shows
def without_fencing_check(target: Target) -> bool:
    bench = Bench(target)
    stale, _ = taken_over(bench)
    return isinstance(bench.send(stale), Sent)


@shows
def without_expiry_check(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.expire()
    return isinstance(bench.send(lease), Sent)


@shows
def without_store_clock(target: Target) -> bool:
    bench = Bench(target)
    bench.lease(A)
    return isinstance(bench.connect(B, ahead_ms=3_600_000).acquire(JANE), Lease)


@shows
def without_renewal_limit(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.expire()
    return isinstance(bench.box().renew(JANE, lease.token), Lease)


@shows
def without_release_owner(target: Target) -> bool:
    bench = Bench(target)
    assert isinstance(bench.box(B).release(JANE, 1), Refused)
    lease = bench.lease(A)
    return isinstance(bench.box(B).release(JANE, lease.token), Released)


@shows
def without_release_token(target: Target) -> bool:
    bench = Bench(target)
    assert isinstance(bench.box(B).release(JANE, 1), Refused)
    stale, _ = taken_over(bench)
    return isinstance(bench.box(A).release(JANE, stale.token), Released)


@shows
def without_atomic_acquire(target: Target) -> bool:
    bench = Bench(target)
    others: list[object] = []
    claim = bench.box(B).acquire
    mine = bench.meanwhile(
        "acquire.read", lambda: others.append(claim(JANE)), lambda: bench.box(A).acquire(JANE)
    )
    assert isinstance(bench.box(A).acquire(JANE), Refused)
    return isinstance(mine, Lease) and isinstance(others[0], Lease)


@shows
def without_atomic_send(target: Target) -> bool:
    """An opt-out was noted, and the send was authorised behind it."""
    bench = Bench(target)
    lease = bench.lease()
    bench.meanwhile(
        "send.checked", lambda: bench.box(B).suppress(JANE, "opt-out"), lambda: bench.send(lease)
    )
    bench.send(lease)
    bench.send(lease)
    decisions = [(each.event, each.decision) for each in target.audit()]
    noted = ("suppress", "noted")
    return noted in decisions and ("send", "authorized") in decisions[decisions.index(noted) :]


@shows
def without_suppression_at_send(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease(A)
    bench.box(B).suppress(JANE, "opt-out")
    return isinstance(bench.send(lease), Sent)


@shows
def without_cooldown_after_release(target: Target) -> bool:
    return sent_and_handed_on(target)


@shows
def without_shared_cooldown(target: Target) -> bool:
    return sent_and_handed_on(target)


@shows
def without_key_before_delivery(target: Target) -> bool:
    return retried_after_silence(target) == 2


@shows
def without_atomic_key(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    message = bench.message(lease)
    replica = bench.connect(A)
    bench.meanwhile("send.key_resolved", lambda: replica.send(message), lambda: bench.send(lease))
    assert isinstance(bench.send(lease), Sent)
    return bench.arrived == 2


@shows
def without_fingerprint(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    other = replace(bench.message(lease), body="Something else.\n")
    return isinstance(bench.box().send(other), Sent)


@shows
def without_original_answer(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    first, again = bench.send(lease), bench.send(lease)
    assert isinstance(first, Sent)
    assert isinstance(again, Sent)
    return (first.message_id, first.status) != (again.message_id, again.status)


@shows
def without_key_after_failure(target: Target) -> bool:
    return retried_after_silence(target) == 2


@shows
def without_unknown_state(target: Target) -> bool:
    return retried_after_silence(target) == 2


@shows
def without_delivery(target: Target) -> bool:
    bench = Bench(target)
    return isinstance(bench.send(bench.lease()), Sent) and bench.arrived == 0


@shows
def without_lasting_counter(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease(A)
    bench.box(A).release(JANE, lease.token)
    return bench.lease(B).token <= lease.token


@shows
def without_renewal_from_now(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.clock.advance_ms(LEASE_MS // 2)
    renewed = bench.box().renew(JANE, lease.token)
    assert isinstance(renewed, Lease)
    return renewed.expires_at_ms == lease.expires_at_ms


@shows
def without_token_kept_at_renewal(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    renewed = bench.box().renew(JANE, lease.token)
    assert isinstance(renewed, Lease)
    return renewed.token != lease.token


@shows
def without_suppression_before_release(target: Target) -> bool:
    """A releases Jane's contact, then B writes, and only then does A's next release put her on."""
    bench = Bench(target)
    assert isinstance(bench.box(A).suppress(JANE, "opt-out"), Noted)
    lease = bench.lease(B)
    written = isinstance(bench.send(lease), Sent)
    bench.box(A).release(JANE, 1)
    assert isinstance(bench.send(lease, 2), Refused)
    return written


@shows
def without_cooldown_reservation(target: Target) -> bool:
    bench = Bench(target, COOLDOWN_S)
    lease = bench.lease(A)
    others: list[object] = []

    def write_as_well() -> None:
        bench.box(A).release(JANE, lease.token)
        others.append(bench.send(bench.lease(B), 2))

    mine = bench.meanwhile("send.dispatching", write_as_well, lambda: bench.send(lease))
    return isinstance(mine, Sent) and isinstance(others[0], Sent)


@shows
def without_claim_protection(target: Target) -> bool:
    bench = Bench(target)
    bench.lease(A)
    assert isinstance(bench.box(B).acquire(JANE), Refused)
    return isinstance(bench.box(B).acquire(JANE), Lease)


@shows
def without_window_for_retry(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    bench.clock.advance_ms(round(WINDOW_S * 10))
    bench.send(lease)
    return bench.arrived == 2


@shows
def without_key_normalisation(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    bench.box().send(replace(bench.message(lease), key=" RUN:1"))
    return bench.arrived == 2


@shows
def without_shared_keys(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease(A)
    bench.send(lease)
    bench.box(A).release(JANE, lease.token)
    newer = bench.lease(B)
    bench.box(B).send(bench.under(newer, bench.message(lease)))
    return bench.arrived == 2


@shows
def without_replay_first(target: Target) -> bool:
    bench = Bench(target, COOLDOWN_S)
    lease = bench.lease()
    bench.send(lease)
    refused = isinstance(bench.send(lease), Refused)
    bench.clock.advance_ms(round(COOLDOWN_S * 1000))
    assert isinstance(bench.send(lease), Sent)
    return refused


@shows
def without_suppression_over_override(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.box().suppress(JANE, "opt-out")
    assert isinstance(bench.send(lease), Refused)
    bench.box().override(JANE, "grace", "she asked")
    return isinstance(bench.send(lease), Sent)


@shows
def without_event_order(target: Target) -> bool:
    bench = Bench(target)
    bench.box(A).unsuppress(JANE, "grace")
    bench.clock.advance_ms(1000)
    bench.box(B).suppress(JANE, "opt-out")
    bench.box(A).lookup("run:1")
    return isinstance(bench.send(bench.lease(B)), Sent)


@shows
def without_dispatching_state(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease, 2)
    message = bench.message(lease)
    assert bench.crash_at("send.handed_over", lambda: bench.box().send(message))
    bench.connect(A, incarnation=1).send(message)
    return bench.arrived == 3


@shows
def without_owner_check(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease(A)
    return isinstance(bench.box(B).send(bench.message(lease)), Sent)


@shows
def without_atomic_audit(target: Target) -> bool:
    """A grant was committed and the log knows nothing of it."""
    bench = Bench(target)
    bench.crash_at("audit.put_off", lambda: bench.box(A).acquire(JANE))
    granted = isinstance(bench.box(B).acquire(JANE), Refused)
    return granted and "granted" not in [each.decision for each in target.audit()]


@shows
def without_inbound_dedup(target: Target) -> bool:
    box = Bench(target).full()
    event = Received(event_id="<1@example.com>", sender=JANE, body="Sounds good.\n")
    told = [box.receive(event), box.receive(event)]
    return [isinstance(each, Taken) and each.first for each in told] == [True, True]


@shows
def without_opt_out_in_replies(target: Target) -> bool:
    bench = Bench(target)
    words = "Please unsubscribe me.\n"
    bench.full().receive(Received(event_id="<1@example.com>", sender=JANE, body=words))
    return isinstance(bench.send(bench.lease()), Sent)


@shows
def without_true_cancel(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    told = bench.full(B).cancel("run:1")
    return isinstance(told, Found) and told.state is SendState.CANCELLED


@shows
def without_lasting_cancel(target: Target) -> bool:
    bench = Bench(target)
    bench.full(B).cancel("run:1")
    return isinstance(bench.send(bench.lease()), Sent)


@shows
def without_shared_load(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease(A)
    bench.send(lease)
    bench.box(A).release(JANE, lease.token)
    return bench.lease(B).contact_load == 0


@shows
def without_durable_store(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease(A)
    target.crash_store()
    newer = bench.box(B).acquire(JANE)
    return isinstance(newer, Lease) and newer.token == lease.token


@shows
def without_kept_counters(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease(A)
    bench.clock.advance_ms(LONG_AGO_MS)
    bench.full(B).clean_up()
    return bench.lease(B).token <= lease.token


@shows
def without_kept_list(target: Target) -> bool:
    bench = Bench(target)
    bench.box().suppress(JANE, "opt-out")
    bench.clock.advance_ms(LONG_AGO_MS)
    bench.full().clean_up()
    return isinstance(bench.send(bench.lease()), Sent)


@shows
def without_kept_keys(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    bench.full().clean_up()
    bench.send(lease)
    return bench.arrived == 2


@shows
def without_kept_unknown(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.transport.behaviour = "silent"
    bench.send(lease)
    bench.transport.behaviour = "accept"
    bench.clock.advance_ms(LONG_AGO_MS)
    bench.full().clean_up()
    bench.box().send(bench.under(bench.lease(), bench.message(lease)))
    return bench.arrived == 2


@shows
def without_atomic_clean_up(target: Target) -> bool:
    bench = Bench(target)
    bench.lease(A)
    bench.clock.advance_ms(LONG_AGO_MS)
    claims: list[object] = []
    claim = lambda: claims.append(bench.box(A).acquire(JANE))  # noqa: E731
    bench.meanwhile("clean_up.read", claim, bench.full(B).clean_up)
    return isinstance(claims[0], Lease) and isinstance(bench.box(B).acquire(JANE), Lease)


@shows
def without_keys_on_reply(target: Target) -> bool:
    bench = Bench(target)
    message = replace(bench.message(bench.lease()), refers_to="<question@customers.example.org>")
    for _ in range(2):
        bench.full().reply(message)
    return bench.arrived == 2


SHOWS |= AROUND


def test_every_twin_has_a_demonstration() -> None:
    assert set(SHOWS) == {twin.name for twin in twins()}


@pytest.mark.parametrize("name", SHOWS)
def test_the_twin_lets_it_happen(name: str) -> None:
    assert SHOWS[name](load_target(f"leaserace.reference_impl.broken.{name}:target"))


@pytest.mark.parametrize("name", SHOWS)
def test_the_reference_does_not(name: str) -> None:
    assert not SHOWS[name](ReferenceTarget())
