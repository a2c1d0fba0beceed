"""What each safeguard around the send keeps from happening, in the fewest calls.

A demonstration is named as its twin and returns True if the fault happened.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import (
    Answer,
    Code,
    Found,
    Lease,
    MessageKind,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
    Target,
)
from tests.ablation.bench import (
    COOLDOWN_S,
    JANE,
    WINDOW_S,
    A,
    B,
    Bench,
    Demonstration,
    both_granted,
)

AROUND: dict[str, Demonstration] = {}
DEADLINE_MS = 10_000
"""Past it the worker of a send counts as gone, with the bench's lengths."""
QUIET_MS = 60_000
"""After it "no such message" is believed."""


def shows(demonstration: Demonstration) -> Demonstration:
    """Register what shows the twin of the function's name."""
    AROUND[demonstration.__name__] = demonstration
    return demonstration


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def unknown(bench: Bench) -> Lease:
    """A send that the transport took without saying so."""
    lease = bench.lease()
    bench.transport.behaviour = "silent"
    bench.send(lease)
    bench.transport.behaviour = "accept"
    return lease


def handed_on(bench: Bench, lease: Lease, number: int = 9) -> Answer:
    """What the next agent is told that writes to Jane."""
    assert isinstance(bench.box(lease.owner).release(JANE, lease.token), Released)
    return bench.send(bench.lease(B), number)


# -- outcomes and look-ups ---------------------------------------------------------------------


@shows
def without_transport_asked(target: Target) -> bool:
    bench = Bench(target)
    lease = unknown(bench)
    bench.clock.advance_ms(QUIET_MS)
    bench.box().lookup("run:1")
    renewed = bench.connect(A).acquire(JANE)
    assert isinstance(renewed, Lease)
    bench.box().send(bench.under(renewed, bench.message(lease)))
    return bench.arrived == 2


@shows
def without_lookup_of_unknown(target: Target) -> bool:
    bench = Bench(target)
    unknown(bench)
    return bench.box().lookup("run:1") == Found(state=SendState.ABSENT)


@shows
def without_one_message_id(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.transport.behaviour = "refuse"
    bench.send(lease)
    bench.transport.behaviour = "accept"
    bench.send(lease)
    named = {each.message_id for each in target.audit() if each.idempotency_key == "run:1"}
    return len(named - {None}) == 2


@shows
def without_retry_after_refusal(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.transport.behaviour = "refuse"
    bench.send(lease)
    bench.transport.behaviour = "accept"
    return not isinstance(bench.send(lease), Sent)


@shows
def without_refusal_by_receiver(target: Target) -> bool:
    bench = Bench(target)
    bench.transport.behaviour = "refuse"
    return isinstance(bench.send(bench.lease()), Sent)


@shows
def without_attempt_check(target: Target) -> bool:
    """A worker stands still past its deadline; its replica's try withdraws it and sends."""
    bench = Bench(target)
    lease = bench.lease()
    message = bench.message(lease)

    def meanwhile() -> None:
        bench.clock.advance_ms(DEADLINE_MS)
        bench.connect(A).send(message)

    bench.meanwhile("send.recorded", meanwhile, lambda: bench.box().send(message))
    return bench.arrived == 2


@shows
def without_end_of_claims(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.crash_at("send.recorded", lambda: bench.send(lease))
    bench.clock.advance_ms(DEADLINE_MS)
    return code_of(bench.send(lease)) is Code.SEND_IN_PROGRESS


@shows
def without_second_look(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    opt_out = lambda: bench.box(B).suppress(JANE, "opt-out")  # noqa: E731
    bench.meanwhile("send.recorded", opt_out, lambda: bench.send(lease))
    return bench.arrived == 1


@shows
def without_busy_answer(target: Target) -> bool:
    """Somebody stands inside a transaction, so the store can't be had."""
    bench = Bench(target)
    told: list[object] = []
    opt_out = lambda: told.append(bench.box(B).suppress(JANE, "opt-out"))  # noqa: E731
    bench.meanwhile("acquire.read", opt_out, lambda: bench.box(A).acquire("joe@example.com"))
    return isinstance(told[0], Noted)


# -- keys -----------------------------------------------------------------------------------------


def at_the_end(target: Target, moment_ms: int) -> Answer:
    """What a retry is told so long after its window has ended."""
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    bench.clock.advance_ms(round(WINDOW_S * 1000) + moment_ms)
    later = bench.connect(A).acquire(JANE)
    assert isinstance(later, Lease)
    return bench.box().send(bench.under(later, bench.message(lease)))


@shows
def without_window_to_its_end(target: Target) -> bool:
    answer = at_the_end(target, -1)
    return isinstance(answer, Sent) and not answer.replay


@shows
def without_window_end(target: Target) -> bool:
    answer = at_the_end(target, 0)
    return isinstance(answer, Sent) and answer.replay


@shows
def without_recipient_in_fingerprint(target: Target) -> bool:
    bench = Bench(target)
    message = bench.message(bench.lease())
    bench.box().send(message)
    return isinstance(bench.box().send(replace(message, to="joe@example.com")), Sent)


# -- cooldown, load and persons -------------------------------------------------------------------


@shows
def without_cooldown_after_unknown(target: Target) -> bool:
    bench = Bench(target, COOLDOWN_S)
    return isinstance(handed_on(bench, unknown(bench)), Sent)


@shows
def without_freed_cooldown(target: Target) -> bool:
    bench = Bench(target, COOLDOWN_S)
    lease = bench.lease()
    bench.transport.behaviour = "refuse"
    bench.send(lease)
    bench.transport.behaviour = "accept"
    return code_of(handed_on(bench, lease)) is Code.COOLDOWN_ACTIVE


def overridden(target: Target) -> list[Answer]:
    """Three messages to Jane, with one override before the second."""
    bench = Bench(target, COOLDOWN_S)
    lease = bench.lease()
    first = bench.send(lease, 1)
    bench.box(B).override(JANE, "grace", "she asked")
    return [first, bench.send(lease, 2), bench.send(lease, 3)]


@shows
def without_end_of_override(target: Target) -> bool:
    return all(isinstance(answer, Sent) for answer in overridden(target))


@shows
def without_cooldown_under_override(target: Target) -> bool:
    return all(isinstance(answer, Sent) for answer in overridden(target))


@shows
def without_persons(target: Target) -> bool:
    return isinstance(Bench(target).box(A).override(JANE, A, "I want to"), Noted)


@shows
def without_load_at_renewal(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    renewed = bench.box().renew(JANE, lease.token)
    assert isinstance(renewed, Lease)
    return renewed.contact_load == lease.contact_load


@shows
def without_shared_halt(target: Target) -> bool:
    bench = Bench(target, breaker_minimum=1)
    lease = bench.lease(A)
    bench.send(lease)
    bench.box(A).suppress("joe@example.com", "bounce")
    assert code_of(bench.send(lease, 2)) is Code.SENDING_HALTED
    return isinstance(handed_on(bench, lease), Sent)


@shows
def without_breaker_minimum(target: Target) -> bool:
    bench = Bench(target, breaker_minimum=10)
    bench.box(A).suppress("joe@example.com", "bounce")
    return code_of(bench.send(bench.lease())) is Code.SENDING_HALTED


# -- the log --------------------------------------------------------------------------------------


def refused_twice_over(target: Target) -> tuple[Answer, tuple[str, ...]]:
    """A send that both the list and its stale token refuse, and the reasons in the log."""
    bench = Bench(target)
    stale = bench.lease(A)
    bench.expire()
    bench.lease(B)
    bench.box(B).suppress(JANE, "opt-out")
    answer = bench.send(stale)
    return answer, list(target.audit())[-1].reasons


@shows
def without_strongest_refusal(target: Target) -> bool:
    return code_of(refused_twice_over(target)[0]) is Code.STALE_FENCING_TOKEN


@shows
def without_all_reasons(target: Target) -> bool:
    return len(refused_twice_over(target)[1]) == 1


def asked_thrice(target: Target) -> list[Code | None]:
    """What an agent is told that meets one lease three times."""
    bench = Bench(target)
    bench.lease(A)
    return [code_of(bench.box(B).acquire(JANE)) for _ in range(3)]


@shows
def without_conflict_count(target: Target) -> bool:
    return asked_thrice(target)[-1] is Code.CONTACT_OWNED


@shows
def without_escalation(target: Target) -> bool:
    return asked_thrice(target)[-1] is Code.CONTACT_OWNED


@shows
def without_audit_state(target: Target) -> bool:
    bench = Bench(target)
    bench.lease(A)
    bench.box(B).acquire(JANE)
    return list(target.audit())[-1].state == {}


# -- one person, one key --------------------------------------------------------------------------


@shows
def without_dot_folding(target: Target) -> bool:
    return both_granted(target, "jane.doe@gmail.com", "janedoe@gmail.com")


@shows
def without_tag_folding(target: Target) -> bool:
    return both_granted(target, "jane+news@gmail.com", "jane@gmail.com")


@shows
def without_one_domain_form(target: Target) -> bool:
    return both_granted(target, "jane@münchen.example.com", "jane@xn--mnchen-3ya.example.com")


@shows
def without_composed_letters(target: Target) -> bool:
    return both_granted(target, "z\u00f6e@example.com", "zo\u0308e@example.com")


# -- the lint -------------------------------------------------------------------------------------


def lets_through(target: Target, **changes: object) -> bool:
    bench = Bench(target)
    message = bench.message(bench.lease())
    return isinstance(bench.box().send(replace(message, **changes)), Sent)  # type: ignore[arg-type]


@shows
def without_lint_first(target: Target) -> bool:
    bench = Bench(target)
    lease = bench.lease()
    bench.send(lease)
    unfit = replace(bench.message(lease), subject="")
    return code_of(bench.box().send(unfit)) is Code.KEY_REUSED


@shows
def without_injection_check(target: Target) -> bool:
    return lets_through(target, subject="Hello\r\nBcc: everybody@example.org")


@shows
def without_one_recipient(target: Target) -> bool:
    return lets_through(target, headers={"Bcc": "everybody@example.org"})


@shows
def without_opt_out_check(target: Target) -> bool:
    own = {"List-Unsubscribe": "<mailto:stop@example.org>"}
    return lets_through(target, headers=own, kind=MessageKind.COMMERCIAL)
