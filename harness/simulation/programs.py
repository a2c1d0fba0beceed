"""Clients that make given calls, whatever they are answered: what no well-behaved agent would do.

A mailbox must hold against clients that send under a lease they lost, retry long after, write the key
in another case or put another payload under it. A program is a word; each letter is one call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..actor import EVERYONE
from ..answers import event_to_json
from ..contract import Endpoint, Lease, Message, MessageKind, Received
from ..playbooks import draft
from ..scenario import Seat

MOMENT_S = 0.001
"""The shortest time a store's clock tells apart."""
UNFIT: tuple[Mapping[str, Any], ...] = (
    {"subject": " "},
    {"subject": "Offer\r\nBcc: everybody@example.org"},
    {"headers": {"Cc": "everybody@example.org"}},
    {"headers": {"List-Unsubscribe": "<mailto:stop@example.org>"}},
)
"""What no pre-send lint lets through, each in another way (spec: O6, C6)."""


class Client:
    """What a program's letters work on: the last token and the last message.

    Args:
        seat: Its own side.
        args: ``contact``, ``address``, ``spellings``, ``run``, ``first`` (the first agent's id).
    """

    def __init__(self, seat: Seat, args: Mapping[str, Any]) -> None:
        self._seat = seat
        self._contact: str = args["contact"]
        self._address: str = args["address"]
        self._spellings: tuple[str, ...] = tuple(args["spellings"])
        self._run: str = args["run"]
        self._first: str = args["first"]
        self._token = 0
        self._sends = 0
        self._message: Message | None = None
        self._unfits = 0
        self._unfit: Message | None = None

    def acquire(self) -> None:
        """A: claim the contact."""
        self._keep(self._seat.call("acquire", self._contact, address=self._address))

    def renew(self) -> None:
        """N: renew under the last token."""
        self._keep(
            self._seat.call("renew", self._contact, address=self._address, token=self._token)
        )

    def release(self) -> None:
        """L: release under the last token."""
        self._seat.call("release", self._contact, address=self._address, token=self._token)

    def send(self, kind: MessageKind = MessageKind.COMMERCIAL) -> None:
        """S: a new message under the last token."""
        self._sends += 1
        self._message = draft(
            run=self._run,
            agent=self._seat.id,
            step=f"{'s' if kind is MessageKind.COMMERCIAL else 't'}{self._sends}",
            contact=self._contact,
            address=self._address,
            token=self._token,
            kind=kind,
        )
        self._call_send(self._message)

    def reply(self) -> None:
        """T: a new transactional message."""
        self.send(MessageKind.TRANSACTIONAL)

    def retry(self) -> None:
        """R: the last message again, as it was."""
        self._again()

    def retry_with_this_token(self) -> None:
        """Q: the last message again, under the last token."""
        self._again(token=self._token)

    def send_for_colleague(self) -> None:
        """C: the first agent's first message again, under its key and this agent's own token (spec: K6)."""
        self._call_send(
            draft(
                run=self._run,
                agent=self._first,
                step="s1",
                contact=self._contact,
                address=self._address,
                token=self._token,
            )
        )

    def retry_with_drifted_key(self) -> None:
        """K: the last message again, its key in capitals with a blank behind it."""
        if self._message is not None and self._message.key is not None:
            self._again(key=self._message.key.upper() + " ")

    def other_payload(self) -> None:
        """P: another text under the last key."""
        if self._message is not None:
            intent = f"{self._message.intent}p"
            body = f"Something else.\n\n[intent:{intent}]\n"
            self._again(body=body, intent=intent, token=self._token)

    def unfit(self) -> None:
        """J: a message that can't be sent as it is, under a key of its own; each J another one."""
        form = UNFIT[self._unfits % len(UNFIT)]
        self._unfits += 1
        self._unfit = replace(
            draft(
                run=self._run,
                agent=self._seat.id,
                step=f"j{self._unfits}",
                contact=self._contact,
                address=self._address,
                token=self._token,
            ),
            **form,
        )
        self._call_send(self._unfit)

    def unfit_under_last_key(self) -> None:
        """D: the last such message again, under the key of the last sound one."""
        if self._unfit is not None and self._message is not None:
            self._call_send(replace(self._unfit, key=self._message.key, token=self._token))

    def other_spelling(self) -> None:
        """Z: from here on spell the address otherwise."""
        place = self._spellings.index(self._address) + 1
        self._address = self._spellings[place % len(self._spellings)]

    def guess(self) -> None:
        """G: from here on claim to hold token 1."""
        self._token = 1

    def lookup(self) -> None:
        """F: look the last key up."""
        if self._message is not None:
            self._seat.call("lookup", self._contact, key=self._message.key)

    def cancel_for_colleague(self) -> None:
        """Y: take the first agent's first message back, sent or not (spec: X17)."""
        first = draft(
            run=self._run,
            agent=self._first,
            step="s1",
            contact=self._contact,
            address=self._address,
            token=self._token,
        )
        self._seat.call("cancel", self._contact, key=first.key)

    def receive(self) -> None:
        """i: a webhook tells of the contact's opt-out, always the same one (spec: O4)."""
        event = Received(
            event_id=f"<{self._run}.1@inbound.example.org>",
            sender=self._address,
            body="Please unsubscribe me from this list.\n",
        )
        self._seat.call("receive", self._contact, event=event_to_json(event))

    def retry_by_reply(self) -> None:
        """r: the last message again, by the endpoint of replies (spec: K8)."""
        self._again(endpoint=Endpoint.REPLY, refers_to="<question@customers.example.org>")

    def clean_up(self) -> None:
        """c: remove old rows (spec: K5)."""
        self._seat.call("clean_up", EVERYONE)

    def suppress(self) -> None:
        """O: an opt-out."""
        self._suppress("opt-out")

    def bounce(self) -> None:
        """B: a bounce."""
        self._suppress("bounce")

    def unsuppress(self) -> None:
        """U: a person takes the contact off the list."""
        self._seat.call("unsuppress", self._contact, address=self._address, person="person-01")

    def unsuppress_itself(self) -> None:
        """I: the agent itself takes the contact off the list (spec: O7)."""
        self._seat.call("unsuppress", self._contact, address=self._address, person=self._seat.id)

    def override(self) -> None:
        """V: a person lets the next send skip the cooldown."""
        self._override("person-01")

    def override_itself(self) -> None:
        """H: the agent itself lets its next send skip the cooldown (spec: O7)."""
        self._override(self._seat.id)

    def _override(self, person: str) -> None:
        self._seat.call(
            "override",
            self._contact,
            address=self._address,
            person=person,
            reason="they asked for it",
        )

    def wait_for_lease(self) -> None:
        """X: wait one lease length."""
        self._seat.wait_s(self._seat.settings.lease_s)

    def wait(self) -> None:
        """W: wait a second."""
        self._seat.wait_s(1.0)

    def wait_in_window(self) -> None:
        """E: wait until the last millisecond of a window that opens now (spec: K5)."""
        self._seat.wait_s(self._seat.settings.key_window_s - MOMENT_S)

    def wait_a_moment(self) -> None:
        """M: wait a millisecond."""
        self._seat.wait_s(MOMENT_S)

    def _suppress(self, reason: str) -> None:
        self._seat.call("suppress", self._contact, address=self._address, reason=reason)

    def _keep(self, answer: object) -> None:
        if isinstance(answer, Lease):
            self._token = answer.token

    def _again(self, **changes: Any) -> None:
        if self._message is not None:
            self._call_send(replace(self._message, **changes))

    def _call_send(self, message: Message) -> None:
        self._seat.call("send", self._contact, message=message)


LETTERS: Mapping[str, Callable[[Client], None]] = {
    "A": Client.acquire,
    "N": Client.renew,
    "L": Client.release,
    "S": Client.send,
    "T": Client.reply,
    "R": Client.retry,
    "Q": Client.retry_with_this_token,
    "C": Client.send_for_colleague,
    "K": Client.retry_with_drifted_key,
    "P": Client.other_payload,
    "Z": Client.other_spelling,
    "G": Client.guess,
    "F": Client.lookup,
    "O": Client.suppress,
    "B": Client.bounce,
    "U": Client.unsuppress,
    "V": Client.override,
    "X": Client.wait_for_lease,
    "W": Client.wait,
    "E": Client.wait_in_window,
    "M": Client.wait_a_moment,
    "H": Client.override_itself,
    "I": Client.unsuppress_itself,
    "J": Client.unfit,
    "D": Client.unfit_under_last_key,
    "Y": Client.cancel_for_colleague,
    "i": Client.receive,
    "r": Client.retry_by_reply,
    "c": Client.clean_up,
}
"""Letters of a program and what each does."""


def program(seat: Seat, args: Mapping[str, Any]) -> None:
    """Make the calls of ``args["program"]``, one letter after the other."""
    client = Client(seat, args)
    for letter in args["program"]:
        LETTERS[letter](client)
