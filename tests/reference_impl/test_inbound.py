"""What contacts write: each message once, an opt-out before anything else."""

from __future__ import annotations

import email
import re
import time
from dataclasses import replace
from typing import Any

import pytest

from leaserace.harness import points
from leaserace.harness.contract import (
    Code,
    Message,
    MessageKind,
    Noted,
    Received,
    Refused,
    Sent,
    Taken,
)
from leaserace.reference_impl.records import InboundRow, OptOutRow, SuppressionRow
from leaserace.reference_impl.wording import asks_to_stop
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import Crash, Watch, crash, in_thread

DAY_MS = 86_400_000
OUT = "unsubscribe@mailbox.example.com"
CLICK = {"List-Unsubscribe": "One-Click"}
REPLY = Received(event_id="<1@acme.com>", sender="Jane <Jane.Doe@acme.com>", body="Sounds good.\n")
STOP = replace(REPLY, event_id="<2@acme.com>", body="Please stop emailing me.\n")


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def take(desk: Desk, received: Received, **extra: Any) -> Taken:
    taken = desk.mailbox().receive(received, **extra)
    assert isinstance(taken, Taken), taken
    return taken


def is_suppressed(desk: Desk, contact: str = JANE) -> bool:
    with desk.store.transaction(1.0) as tx:
        row = tx.get(SuppressionRow, contact)
        return row is not None and bool(row.causes)


def token_of(desk: Desk) -> str:
    """The token in the opt-out of the last message, as its recipient finds it."""
    headers = email.message_from_bytes(desk.transport.taken[-1].data)
    found = re.search(r"<https://[^>]*\?m=([0-9a-f]+)>", headers["List-Unsubscribe"])
    assert found
    return found[1]


# -- once ----------------------------------------------------------------------------------------


def test_a_message_told_of_again_starts_nothing(desk: Desk) -> None:
    """By another worker, with other white space, a week later. spec: O4, X20"""
    assert take(desk, REPLY) == Taken(
        key=JANE, first=True, opted_out=False, at_ms=desk.clock.now_ms()
    )
    desk.clock.advance_ms(7 * DAY_MS)
    again = desk.mailbox("support-01").receive(replace(REPLY, event_id=" <1@acme.com>\n"))
    assert isinstance(again, Taken)
    assert not again.first
    assert [each.decision for each in desk.log("receive")] == ["noted", "repeated"]


def test_of_two_workers_one_is_first(desk: Desk) -> None:
    """The other is told the store is busy, and then that it was taken. spec: O4, X20, S6"""
    other = desk.mailbox("support-01")
    other.lookup("warm")
    answers: list[object] = []
    points.listen(
        Watch("suppress.written", lambda: answers.append(in_thread(lambda: other.receive(STOP))))
    )
    assert take(desk, STOP).first
    points.listen(None)
    assert code_of(answers[0]) is Code.STORE_BUSY
    assert not take(desk, STOP).first


def test_a_crash_while_it_is_recorded_leaves_nothing_behind(desk: Desk) -> None:
    """Neither the record nor the opt-out: told of again, it is taken whole. spec: O4, C3"""
    points.listen(Watch("suppress.written", crash))
    with pytest.raises(Crash):
        desk.mailbox().receive(STOP)
    points.listen(None)
    assert not is_suppressed(desk)
    assert take(desk, STOP).first
    assert is_suppressed(desk)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"event_id": ""}, Code.INVALID_MESSAGE),
        ({"event_id": "  "}, Code.INVALID_MESSAGE),
        ({"event_id": "x" * 1_000_000}, Code.INVALID_MESSAGE),
        ({"sender": "nobody"}, Code.INVALID_ADDRESS),
    ],
)
def test_what_can_not_be_taken_is_refused(desk: Desk, fields: dict[str, str], code: Code) -> None:
    """spec: O4, I4, R3"""
    assert code_of(desk.mailbox().receive(replace(STOP, **fields))) is code  # type: ignore[arg-type]
    assert [each.decision for each in desk.log("receive")] == [code]
    assert not is_suppressed(desk)


@pytest.mark.parametrize(("early_ms", "known"), [(1, True), (0, False)])
def test_its_id_is_kept_as_long_as_the_policy_says(desk: Desk, early_ms: int, known: bool) -> None:
    """spec: O4"""
    take(desk, REPLY)
    desk.clock.advance_ms(90 * DAY_MS - early_ms)
    desk.mailbox().clean_up()
    with desk.store.transaction(1.0) as tx:
        assert bool(tx.rows(InboundRow)) is known


# -- opt-outs ------------------------------------------------------------------------------------


def test_an_opt_out_by_words_stops_every_agent(desk: Desk) -> None:
    """Although a lease is live. spec: O4, C1, S4"""
    lease = desk.lease("support-01")
    assert take(desk, STOP).opted_out
    answer = desk.mailbox("support-01").send(desk.message(lease))
    assert code_of(answer) is Code.SUPPRESSED
    assert not take(desk, STOP).first
    assert take(desk, STOP).opted_out


def test_the_opt_out_is_written_before_the_lease_is_released(desk: Desk) -> None:
    """spec: C3"""
    lease = desk.lease()
    watch = Watch()
    points.listen(watch)
    take(desk, STOP, release_token=lease.token)
    points.listen(None)
    assert watch.passed.index("suppress.committed") < watch.passed.index("release.read")
    next_lease = desk.lease("support-01")
    answer = desk.mailbox("support-01").send(desk.message(next_lease))
    assert code_of(answer) is Code.SUPPRESSED


def test_a_lease_is_kept_while_the_opt_out_could_not_be_written(desk: Desk) -> None:
    """spec: C3"""
    lease = desk.lease()
    mailbox = desk.mailbox()
    with desk.store.transaction(5.0):
        busy = in_thread(lambda: mailbox.receive(STOP, lease.token))
    assert code_of(busy) is Code.STORE_BUSY
    assert code_of(desk.mailbox("support-01").acquire(JANE)) is Code.CONTACT_OWNED


def test_an_opt_out_from_before_a_persons_clearance_is_late(desk: Desk) -> None:
    """spec: C7"""
    received_at_ms = desk.clock.now_ms()
    desk.clock.advance_ms(1000)
    desk.mailbox().unsuppress(JANE, "grace")
    take(desk, replace(STOP, received_at_ms=received_at_ms))
    assert not is_suppressed(desk)


def test_an_opt_out_by_mail_needs_no_words(desk: Desk) -> None:
    """As a mail program sends it, from whatever address. spec: C6, O4"""
    desk.sent()
    opt_out = Received(
        event_id="<3@home.org>",
        sender="jane@home.org",
        to=f"Opt-out <{OUT.upper()}>",
        subject=f"unsubscribe {token_of(desk)}",
    )
    assert take(desk, opt_out) == Taken(
        key=JANE, first=True, opted_out=True, at_ms=desk.clock.now_ms()
    )
    assert is_suppressed(desk)
    assert not is_suppressed(desk, "jane@home.org")


@pytest.mark.parametrize("subject", ["", "unsubscribe", "unsubscribe 0123", "let me go"])
def test_an_opt_out_by_mail_without_a_token_is_the_senders(desk: Desk, subject: str) -> None:
    """spec: C6"""
    take(desk, replace(REPLY, to=OUT, subject=subject))
    assert is_suppressed(desk)


@pytest.mark.parametrize("to", ["", "nobody", "sales@acme.com"])
def test_mail_to_another_address_is_read_for_its_words(desk: Desk, to: str) -> None:
    """spec: O4"""
    assert not take(desk, replace(REPLY, to=to)).opted_out
    assert take(desk, replace(STOP, to=to)).opted_out


def test_a_policy_without_an_opt_out_address_reads_words(desk: Desk) -> None:
    """spec: O4"""
    desk.policy = replace(desk.policy, opt_out_address="")
    assert not take(desk, replace(REPLY, to=OUT)).opted_out
    assert take(desk, STOP).opted_out


def test_one_click_is_honoured_at_once(desk: Desk) -> None:
    """And a second click is too. spec: C6, C1"""
    lease, _, _ = desk.sent()
    token = token_of(desk)
    for _ in range(2):
        assert isinstance(desk.mailbox().opt_out(token, CLICK), Noted)
    assert code_of(desk.mailbox().send(desk.message(lease))) is Code.SUPPRESSED


@pytest.mark.parametrize("form", [{}, {"List-Unsubscribe": "maybe"}, {"token": "1"}])
def test_a_form_that_is_no_click_changes_nothing(desk: Desk, form: dict[str, str]) -> None:
    """A link that a scanner follows is none. spec: C6"""
    desk.sent()
    assert code_of(desk.mailbox().opt_out(token_of(desk), form)) is Code.INVALID_MESSAGE
    assert not is_suppressed(desk)


def test_a_token_nobody_was_given_changes_nothing(desk: Desk) -> None:
    """spec: C6"""
    refused = desk.mailbox().opt_out("0" * 32, CLICK)
    assert isinstance(refused, Refused)
    assert refused.code is Code.INVALID_MESSAGE
    assert "0000" in refused.detail


@pytest.mark.parametrize(("late_ms", "works"), [(0, True), (3_000, False)])
def test_an_opt_out_works_for_its_whole_time(desk: Desk, late_ms: int, works: bool) -> None:
    """Thirty days after the sending, whatever is cleaned up. spec: C6"""
    desk.policy = replace(desk.policy, opt_out_s=30 * 86_400.0)
    desk.sent()
    desk.clock.advance_ms(30 * DAY_MS + late_ms)
    desk.mailbox().clean_up()
    answer = desk.mailbox().opt_out(token_of(desk), CLICK)
    assert isinstance(answer, Noted if works else Refused)


def test_a_message_that_may_have_left_has_a_working_opt_out(desk: Desk) -> None:
    """Its worker died after the hand-over. spec: C6, X4"""
    points.listen(Watch("send.handed_over", crash))
    with pytest.raises(Crash):
        desk.mailbox().send(desk.message(desk.lease()))
    points.listen(None)
    assert isinstance(desk.mailbox().opt_out(token_of(desk), CLICK), Noted)


@pytest.mark.parametrize(
    ("fields", "policy"),
    [
        ({"kind": MessageKind.TRANSACTIONAL}, {}),
        ({"headers": {"List-Unsubscribe": "<mailto:x@acme.com>"}}, {}),
        ({}, {"opt_out_url": "", "opt_out_address": ""}),
    ],
)
def test_a_message_without_our_opt_out_keeps_none(
    desk: Desk, fields: dict[str, Any], policy: dict[str, Any]
) -> None:
    """spec: C6"""
    desk.policy = replace(desk.policy, commercial_needs_opt_out=False, **policy)
    message: Message = desk.message(desk.lease(), **fields)
    assert isinstance(desk.mailbox().send(message), Sent)
    with desk.store.transaction(1.0) as tx:
        assert not tx.rows(OptOutRow)


# -- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("", "STOP"),
        ("", "Stop."),
        ("", "please unsubscribe"),
        ("", "Unsubscribe me, thanks!"),
        ("", "Hi,\n\nplease remove me from your list.\n\nJane"),
        ("", "Take my address off this list"),
        ("", "Opt out"),
        ("", "I'd like to opt out."),
        ("", "Don\u2019t contact me again"),
        ("", "Please do not send me any more of these."),
        ("", "No more emails please"),
        ("", "no further e-mails!"),
        ("", "Would you stop writing to me?"),
        ("", "Hello,\nunsubscribe\n\n> To unsubscribe click here"),
        ("Unsubscribe", ""),
        ("", "I said: stop\nsending me\nthese."),
    ],
)
def test_clear_words_are_an_opt_out(subject: str, body: str) -> None:
    """spec: O4, C6"""
    assert asks_to_stop(subject, body)


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("", ""),
        ("Re: Unsubscribe rates", "How do our users unsubscribe?"),
        ("", "Sounds good, let's talk.\n\nOn Monday, sales wrote:\n> Reply stop to opt out"),
        ("", "Yes please.\n> unsubscribe me"),
        ("", "Thanks!\n-- \nAcme Inc. Unsubscribe me"),
        ("", "Please don't unsubscribe me, I like these."),
        ("", "The bus stop is near."),
        ("", "We never stop."),
        ("", "Can you remove the second paragraph?"),
        ("", "I could not stop laughing."),
        ("", "\n".join(["One", "Two", "Three", "stop"])),
    ],
)
def test_words_that_only_mention_it_are_none(subject: str, body: str) -> None:
    """spec: O4"""
    assert not asks_to_stop(subject, body)


def test_a_body_without_end_is_read_in_time() -> None:
    """spec: O4"""
    assert not asks_to_stop("x" * 1_000_000, "please " * 200_000)
    assert asks_to_stop("", "word " * 200_000 + "please stop emailing me")


@pytest.mark.parametrize("piece", ["x", "\n", "> quoted\n", "I do not want to unsubscribe me. "])
def test_a_body_of_thirty_million_characters_is_read_in_a_moment(piece: str) -> None:
    """spec: O4: nobody keeps the mailbox busy with one message."""
    begun = time.process_time()
    assert not asks_to_stop("Re: Offer", piece * (30_000_000 // len(piece)))
    assert time.process_time() - begun < 10.0
