"""One agent's work on one contact, step by step; what an agent's habit changes is one method of it.

`Errand` does what the action table of spec R says. A habit (`leaserace.harness.habits`) overrides how
the key is made, what follows an answer, how the lease is kept or what a restart remembers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from .contract import Answer, Code, Found, Lease, Message, MessageKind, NoReply, Refused, Sent
from .scenario import Seat

CONFLICTS_MAX = 3
"""How often one conflict may be met before the work is handed to a person (spec: R2)."""
WAIT_S_MAX = 600.0
"""A conflict that lasts longer than this is not waited for."""
WELL_BEHAVED = "well-behaved"
"""The habit of an agent that is told none."""


class Effect(NamedTuple):
    """One message of a step: a step with several recipients has several (spec: K7)."""

    step: str
    contact: str
    address: str


class Errand:
    """One agent's work on one contact, as a well-behaved agent does it; a habit overrides a method.

    Args:
        seat: Its own side.
        args: The playbook's JSON. ``others`` (pairs of contact and address) are further recipients of
            each step; with ``opts_out`` the contact asks for silence after a message; ``wait_s`` is
            how long a conflict is waited for, one lease length if it is not given.
        kind: What its messages are.

    Attributes:
        contact: Whom it works on.
        address: The contact's address.
        lease: What it holds, or None.
        tries: Calls of `send` so far for the message under way.
        opted_out: The contact asked for silence, and that is not written yet.
    """

    def __init__(
        self, seat: Seat, args: Mapping[str, Any], kind: MessageKind = MessageKind.COMMERCIAL
    ) -> None:
        self.seat = seat
        self.args = args
        self.kind = kind
        self.contact: str = args["contact"]
        self.address: str = args["address"]
        self.patience: int = args.get("patience", CONFLICTS_MAX)
        self.lease: Lease | None = None
        self.tries = 0
        self.opted_out = False

    # What is done.

    def perform(self, work: Callable[[Errand], object]) -> None:
        """Do the playbook's work."""
        work(self)

    def write(self, step: str, *, keep: bool = False) -> bool:
        """Do one step to its end: one logical send, or one for each recipient.

        Args:
            step: Its name; intent and key are made of it, so that a retry is a retry.
            keep: Keep the lease for the next step.

        Returns:
            False if the work on this contact is over.
        """
        goes_on = True
        for effect in self.effects(step):
            self.turn_to(effect)
            goes_on = self.deliver(effect.step) and goes_on
        goes_on = goes_on and not self.opted_out
        if not (keep and goes_on):
            self.give_back()
        return goes_on

    def effects(self, step: str) -> Sequence[Effect]:
        """The messages of a step, each with a name and so a key of its own (spec: K7)."""
        own = Effect(step, self.args["contact"], self.args["address"])
        others = enumerate(self.args.get("others", ()), start=2)
        return (own, *(Effect(f"{step}.{number}", *other) for number, other in others))

    def turn_to(self, effect: Effect) -> None:
        """Work on this contact from here on."""
        if effect.contact != self.contact:
            self.give_back()
        self.contact, self.address = effect.contact, effect.address

    def deliver(self, step: str) -> bool:
        """Do one logical send to its end; False if it did not come to one."""
        self.tries = 0
        for _ in range(self.patience):
            if not self.hold():
                return False
            self.think()
            answer = self.send(step)
            if isinstance(answer, Sent):
                self.after_sent(step, answer)
                return True
            if not self.may_try_again(answer):
                return False
        return False

    # The lease.

    def hold(self) -> bool:
        """Renew what is held, or claim it; False if somebody else keeps it."""
        if self.lease is not None and self.renew():
            return True
        return self.claim()

    def renew(self) -> bool:
        """Extend what is held; a renewal that fails means a new claim (spec: L6)."""
        assert self.lease is not None
        token = self.lease.token
        answer = self.seat.call("renew", self.contact, address=self.address, token=token)
        self.lease = answer if isinstance(answer, Lease) else None
        return self.lease is not None

    def claim(self) -> bool:
        """Claim the contact, and wait for it where that is allowed."""
        for _ in range(self.patience):
            answer = self.seat.call("acquire", self.contact, address=self.address)
            if isinstance(answer, Lease):
                self.lease = answer
                return True
            if not self.wait_for(answer):
                break
        return False

    def wait_for(self, answer: Answer) -> bool:
        """Wait as a refused claim asks for; False if there is nothing to wait for."""
        if isinstance(answer, NoReply) or not isinstance(answer, Refused):
            return False
        if answer.code is Code.STORE_BUSY:
            self.seat.wait_s(answer.retry_after_s or 0.1)
            return self.seat.running()  # a wait that was cut short is none
        if answer.code is Code.CONTACT_OWNED and self.patience > 1:
            wait_s = self.args.get("wait_s", self.seat.settings.lease_s)
            self.seat.wait_s(min(wait_s, WAIT_S_MAX))
            return self.seat.running()
        return False

    def think(self) -> None:
        """Draft under the lease, before each try."""

    def give_back(self) -> None:
        """Release what is held (spec: A2); an opt-out that came in is written first (spec: C3)."""
        self.write_opt_out()
        self.release()

    def release(self) -> None:
        """Release what is held."""
        lease, self.lease = self.lease, None
        if lease is not None:
            self.seat.call("release", self.contact, address=self.address, token=lease.token)

    # The send.

    def run_id(self) -> str:
        """Id of the run in its keys: a restart keeps it (spec: O1)."""
        run: str = self.args["run"]
        return run

    def wording(self) -> str:
        """What a try's body says beside the step's text: nothing that changes from try to try."""
        return ""

    def key(self, step: str, message: Message) -> str | None:
        """The idempotency key, made in code by the first recipe (spec: K1, K7).

        Args:
            step: Which step.
            message: The draft, its key made with the run id that the playbook was given.
        """
        run = self.run_id()
        if run == self.args["run"]:
            return message.key
        return recipe((run, self.seat.id, step, self.contact), message.subject, message.body)

    def compose(self, step: str) -> Message:
        """The message of a try; the same at each (spec: A1)."""
        message = draft(
            run=self.args["run"],
            agent=self.seat.id,
            step=step,
            contact=self.contact,
            address=self.address,
            token=None if self.lease is None else self.lease.token,
            kind=self.kind,
            wording=self.wording(),
        )
        key = self.key(step, message)
        return message if key == message.key else replace(message, key=key)

    def send(self, step: str) -> Answer:
        """Send, and find out what became of it where no answer says it."""
        message = self.compose(step)
        answer = self.call_send(message)
        return self.after_unknown(step, message) if is_unknown(answer) else answer

    def call_send(self, message: Message) -> Answer:
        """One call of `send`."""
        self.tries += 1
        return self.seat.call("send", self.contact, message=message)

    def after_unknown(self, step: str, message: Message) -> Answer:  # noqa: ARG002 - habits read it
        """After an unknown outcome: look the key up, retry only if no message id exists."""
        again = self.compose(step)
        found = self.seat.call("lookup", self.contact, key=again.key)
        if isinstance(found, Found) and found.message_id is None:
            return self.call_send(again)
        return NoReply(why="it may have left; it is never sent again")

    def may_try_again(self, answer: Answer) -> bool:
        """What the table says of a refused send."""
        if not isinstance(answer, Refused):
            return False
        match answer.code:
            case Code.STORE_BUSY:
                self.seat.wait_s(answer.retry_after_s or 0.1)
                return self.seat.running()
            case Code.LEASE_EXPIRED:
                self.lease = None
                return True
            case Code.STALE_FENCING_TOKEN | Code.NOT_HOLDER:
                self.lease = None
                return False
            case _:
                return False

    def after_sent(self, step: str, answer: Sent) -> None:  # noqa: ARG002 - habits read them
        """A message is out: the contact may ask for silence."""
        self.opted_out = bool(self.args.get("opts_out"))

    def write_opt_out(self) -> None:
        """Put the contact on the shared list, if it asked for silence (spec: C3)."""
        if self.opted_out:
            self.opted_out = False
            self.seat.call("suppress", self.contact, address=self.address, reason="opt-out")


def is_unknown(answer: Answer) -> bool:
    """Whether the message may have left or not, or is under way."""
    if isinstance(answer, Refused):
        return answer.code in {Code.SEND_STATUS_UNKNOWN, Code.SEND_IN_PROGRESS}
    return isinstance(answer, NoReply)


def recipe(parts: Sequence[str], subject: str, body: str) -> str:
    """The first recipe: run, agent, step and recipient, then the content (spec: K7)."""
    content = hashlib.blake2b(f"{subject}\n{body}".encode(), digest_size=4).hexdigest()
    return ":".join((*parts, content))


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
    return Message(
        to=address,
        subject=subject,
        body=body,
        token=token,
        key=recipe((run, agent, step, contact), subject, body),
        intent=intent,
        kind=kind,
    )


__all__ = [
    "CONFLICTS_MAX",
    "WAIT_S_MAX",
    "WELL_BEHAVED",
    "Effect",
    "Errand",
    "draft",
    "is_unknown",
    "recipe",
]
