"""What well-behaved agents do on their own; each follows the action table of spec R.

A playbook is given its seat and JSON: ``contact`` and ``address`` of the person, ``run`` (kept on a
restart, spec: O1), and what the single playbook names. It plays on real processes and in the
simulator alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .contract import Answer, Code, Found, Lease, Message, MessageKind, NoReply, Refused, Sent
from .scenario import Seat

CONFLICTS_MAX = 3
"""How often one conflict may be met before the work is handed to a person (spec: R2)."""
SEQUENCE_STEPS = 5
DIGESTS = 2
DIGEST_EVERY_S = 30.0
WAIT_S_MAX = 600.0
"""A conflict that lasts longer than this is not waited for."""


def sales_follow_up(seat: Seat, args: Mapping[str, Any]) -> None:
    """Claim the contact, write one message, give the contact back."""
    Errand(seat, args).write("follow-up")


def support_reply(seat: Seat, args: Mapping[str, Any]) -> None:
    """Answer somebody who waits: transactional, held only while composing (spec: L10)."""
    Errand(seat, args, kind=MessageKind.TRANSACTIONAL).write("reply")


def five_step_sequence(seat: Seat, args: Mapping[str, Any]) -> None:
    """Write a step, renew, write the next one; ``steps`` says how many (spec: L6, L10)."""
    errand = Errand(seat, args)
    for number in range(args.get("steps", SEQUENCE_STEPS)):
        if not seat.running() or not errand.write(f"step-{number + 1}", keep=True):
            break
    errand.give_back()


def scheduled_digest(seat: Seat, args: Mapping[str, Any]) -> None:
    """Write at fixed times; each time is a logical send of its own."""
    errand = Errand(seat, args)
    for number in range(args.get("times", DIGESTS)):
        seat.wait_s(args.get("every_s", DIGEST_EVERY_S))
        if not seat.running() or not errand.write(f"digest-{number + 1}"):
            break


def opt_out(seat: Seat, args: Mapping[str, Any]) -> None:
    """The contact asks not to be written to: the list comes first (spec: C3)."""
    seat.call("suppress", args["contact"], address=args["address"], reason="opt-out")


def bounce(seat: Seat, args: Mapping[str, Any]) -> None:
    """A bounce comes in for the contact."""
    seat.call("suppress", args["contact"], address=args["address"], reason="bounce")


def override(seat: Seat, args: Mapping[str, Any]) -> None:
    """A person lets the next message skip the cooldown (spec: C4)."""
    seat.call(
        "override",
        args["contact"],
        address=args["address"],
        person="person-01",
        reason="they asked for it",
    )


PLAYBOOKS = {
    "sales": sales_follow_up,
    "support": support_reply,
    "sequence": five_step_sequence,
    "digest": scheduled_digest,
    "optout": opt_out,
    "bounce": bounce,
    "override": override,
}
"""Playbooks by the names used on the command line."""

PERSONS = frozenset({"optout", "bounce", "override"})
"""Playbooks of what comes in from outside: it may happen at any time, or never."""


class Errand:
    """One agent's work on one contact.

    Args:
        seat: Its own side.
        args: The playbook's JSON.
        kind: What its messages are.
    """

    def __init__(
        self, seat: Seat, args: Mapping[str, Any], kind: MessageKind = MessageKind.COMMERCIAL
    ) -> None:
        self._seat = seat
        self._contact: str = args["contact"]
        self._address: str = args["address"]
        self._run: str = args["run"]
        self._patience: int = args.get("patience", CONFLICTS_MAX)
        self._kind = kind
        self._lease: Lease | None = None

    def write(self, step: str, *, keep: bool = False) -> bool:
        """Do one logical send to its end.

        Args:
            step: Its name; intent and key are made of it, so that a retry is a retry.
            keep: Keep the lease for the next step.

        Returns:
            False if the work on this contact is over.
        """
        goes_on = False
        for _ in range(self._patience):
            if not self._hold():
                break
            answer = self._send(step)
            if isinstance(answer, Sent):
                goes_on = True
                break
            if not self._may_try_again(answer):
                break
        if not (keep and goes_on):
            self.give_back()
        return goes_on

    def give_back(self) -> None:
        """Release what is held (spec: A2)."""
        lease, self._lease = self._lease, None
        if lease is not None:
            self._seat.call("release", self._contact, address=self._address, token=lease.token)

    def _hold(self) -> bool:
        """Renew what is held, or claim it; False if somebody else keeps it."""
        if self._lease is not None:
            token = self._lease.token
            answer = self._seat.call("renew", self._contact, address=self._address, token=token)
            self._lease = answer if isinstance(answer, Lease) else None
            if self._lease is not None:
                return True
        for _ in range(self._patience):
            answer = self._seat.call("acquire", self._contact, address=self._address)
            if isinstance(answer, Lease):
                self._lease = answer
                return True
            if not self._wait_for(answer):
                break
        return False

    def _wait_for(self, answer: Answer) -> bool:
        """Wait as a refused claim asks for; False if there is nothing to wait for."""
        if isinstance(answer, NoReply) or not isinstance(answer, Refused):
            return False
        if answer.code is Code.STORE_BUSY:
            self._seat.wait_s(answer.retry_after_s or 0.1)
            return True
        if answer.code is Code.CONTACT_OWNED and self._patience > 1:
            self._seat.wait_s(min(self._seat.settings.lease_s, WAIT_S_MAX))
            return True
        return False

    def _send(self, step: str) -> Answer:
        assert self._lease is not None
        message = draft(
            run=self._run,
            agent=self._seat.id,
            step=step,
            contact=self._contact,
            address=self._address,
            token=self._lease.token,
            kind=self._kind,
        )
        answer = self._seat.call("send", self._contact, message=message)
        if isinstance(answer, NoReply) or (
            isinstance(answer, Refused)
            and answer.code in {Code.SEND_STATUS_UNKNOWN, Code.SEND_IN_PROGRESS}
        ):
            return self._looked_up(message)
        return answer

    def _looked_up(self, message: Message) -> Answer:
        """After an unknown outcome: look the key up, retry only if no message id exists."""
        found = self._seat.call("lookup", self._contact, key=message.key)
        if isinstance(found, Found) and found.message_id is None:
            return self._seat.call("send", self._contact, message=message)
        return NoReply(why="it may have left; it is never sent again")

    def _may_try_again(self, answer: Answer) -> bool:
        """What the table says of a refused send."""
        if not isinstance(answer, Refused):
            return False
        match answer.code:
            case Code.STORE_BUSY:
                self._seat.wait_s(answer.retry_after_s or 0.1)
                return True
            case Code.LEASE_EXPIRED:
                self._lease = None
                return True
            case Code.STALE_FENCING_TOKEN | Code.NOT_HOLDER:
                self._lease = None
                return False
            case _:
                return False


@lru_cache(maxsize=256)
def draft(
    *,
    run: str,
    agent: str,
    step: str,
    contact: str,
    address: str,
    token: int | None,
    kind: MessageKind = MessageKind.COMMERCIAL,
    wording: str = "",
) -> Message:
    """A logical send with its intent and key; the same arguments give the same message (spec: K7).

    Args:
        run: The run's id, kept on a restart.
        agent: Who writes.
        step: Which step of the run.
        contact: The scenario's name for the person.
        address: The recipient as the agent spells it.
        token: Fencing token of the lease.
        kind: Commercial or transactional.
        wording: Goes into the body: other wording is another payload.
    """
    intent = f"{run}.{agent}.{step}"
    subject = f"{step} for {contact}"
    body = f"Hello, this is {step}{wording}.\n\n[intent:{intent}]\n"
    content = hashlib.blake2b(f"{subject}\n{body}".encode(), digest_size=4).hexdigest()
    return Message(
        to=address,
        subject=subject,
        body=body,
        token=token,
        key=f"{run}:{agent}:{step}:{contact}:{content}",
        intent=intent,
        kind=kind,
    )
