"""Where an agent's own code sends from: checkpoints, then the sent-table, then the network.

Each of its layers stands in front of the next one, as spec O1 orders them; what is off is not there.
The agent knows nothing of it: it calls its mailbox as ever. What each layer stopped is noted where it
stopped it, whether or not the agent ever heard of the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..contract import (
    Code,
    Found,
    Lease,
    Mailbox,
    Message,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
)
from ..history import AnyEvent, DeliveryEvent
from ..points import point
from .names import Layer, Layout
from .parts import Application

ASKED = "application.asked"
"""The agent's code is about to call the mailbox; what it composed is kept, if anything is."""
ANSWERED = "application.answered"
"""The mailbox has answered; the sent-table has not been written yet."""
NOTED = "application.noted"
"""The sent-table is written, if there is one; the step is not finished yet."""
DAY_MS = 86_400_000

STOPPED_BY: Mapping[Code, Layer] = {
    Code.KEY_REUSED: Layer.KEY,
    Code.SEND_IN_PROGRESS: Layer.KEY,
    Code.SEND_STATUS_UNKNOWN: Layer.KEY,
    Code.STALE_FENCING_TOKEN: Layer.LEASE,
    Code.LEASE_EXPIRED: Layer.LEASE,
    Code.NOT_HOLDER: Layer.LEASE,
    Code.CONTACT_OWNED: Layer.LEASE,
    Code.APPROVAL_REQUIRED: Layer.LEASE,
    Code.COOLDOWN_ACTIVE: Layer.COOLDOWN,
}
"""Refusal to the layer that gives it; a claim that is refused too often needs a person (spec: R2)."""
IN_FLIGHT = frozenset({Code.SEND_IN_PROGRESS, Code.SEND_STATUS_UNKNOWN})
"""Refusals because of another try of the same send, which may arrive yet."""
MAY_EXIST = frozenset({SendState.DISPATCHING, SendState.DELIVERED, SendState.UNKNOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One try that went no further.

    Args:
        intent: Of the logical send.
        layer: What stopped it.
        was_out: Another try of it had reached the person by then.
        may_be_out: Another try of it was under way, or may have left.
    """

    intent: str
    layer: Layer
    was_out: bool
    may_be_out: bool = False


class Journal:
    """What happened in one run, as far as the matrix counts it.

    Args:
        who: Number of the worker that acts now.
    """

    def __init__(self, who: Callable[[], int]) -> None:
        self._who = who
        self._by: Counter[int] = Counter()
        self.arrived: Counter[str] = Counter()
        """Messages that reached a person, by logical send."""
        self.notes: list[Note] = []
        self.intents: dict[str, str] = {}
        """Logical sends that were tried, each with the address it goes to."""
        self.losses = 0
        """So many more answers to `send` are lost on their way."""
        self.kept_out: dict[Desk, str] = {}
        """Desks whose last word from the mailbox was that somebody else has the contact."""

    def hear(self, event: AnyEvent) -> None:
        """Take in what happens in the run; only what arrives matters."""
        if isinstance(event, DeliveryEvent):
            self.arrived[event.intent] += 1
            self._by[self._who()] += 1

    def delivered(self) -> int:
        """How many messages the worker that acts now has delivered."""
        return self._by[self._who()]

    def tried(self, message: Message) -> None:
        """A logical send is about to be tried."""
        self.intents[message.intent] = message.to

    def stopped(self, intent: str, layer: Layer, *, may_be_out: bool = False) -> None:
        """A layer stopped a try."""
        was_out = self.arrived[intent] > 0
        note = Note(intent=intent, layer=layer, was_out=was_out, may_be_out=may_be_out)
        self.notes.append(note)

    def answered(self, message: Message, answer: Sent | Refused) -> None:
        """The mailbox has answered a try that delivered nothing itself."""
        if isinstance(answer, Sent):
            self.stopped(message.intent, Layer.KEY)
            return
        layer = STOPPED_BY.get(answer.code)
        if layer is not None:
            self.stopped(message.intent, layer, may_be_out=answer.code in IN_FLIGHT)

    def stops(self) -> Counter[Layer]:
        """Tries of what was out, or came out by another try, by the layer that stopped each."""
        found = Counter(
            note.layer
            for note in self.notes
            if note.was_out or (note.may_be_out and self.arrived[note.intent])
        )
        out = {to for intent, to in self.intents.items() if self.arrived[intent]}
        found[Layer.LEASE] += sum(address in out for address in self.kept_out.values())
        return +found


class Network:
    """The way to the mailbox and back: answers get lost on it.

    Args:
        mailbox: At its other end.
        journal: What is noted.
    """

    def __init__(self, mailbox: Mailbox, journal: Journal) -> None:
        self._mailbox = mailbox
        self._journal = journal

    def send(self, message: Message) -> Sent | Refused:
        """Send, unless the agent hears nothing of it.

        Raises:
            TimeoutError: The mailbox did its work, and its answer is lost.
        """
        point(ASKED)
        before = self._journal.delivered()
        answer = self._mailbox.send(message)
        if self._journal.delivered() == before:
            self._journal.answered(message, answer)
        if self._journal.losses:
            self._journal.losses -= 1
            raise TimeoutError("the mailbox's answer is lost")
        point(ANSWERED)
        return answer


class Passage:
    """Shows whether what stands behind it was reached.

    Args:
        behind: The next layer, or the network.
    """

    def __init__(self, behind: Callable[[Message], Sent | Refused]) -> None:
        self._behind = behind
        self.is_passed = False

    def send(self, message: Message) -> Sent | Refused:
        """Pass the message on."""
        self.is_passed = True
        return self._behind(message)


class Desk:
    """A `Mailbox` as one process of the agent's application offers it.

    Args:
        mailbox: The real one.
        application: What the application keeps, whichever of its processes asks.
        layout: Which layers are on.
        journal: What is noted.
        now_ms: The time of the scheduler that starts runs.
    """

    def __init__(
        self,
        *,
        mailbox: Mailbox,
        application: Application,
        layout: Layout,
        journal: Journal,
        now_ms: Callable[[], int],
    ) -> None:
        self._mailbox = mailbox
        self._application = application
        self._on = layout.on
        self._keeps_drafts = layout.keeps_drafts
        self._journal = journal
        self._now_ms = now_ms
        self._network = Network(mailbox, journal)
        self._latest = ""
        """The logical send this process works on."""

    # -- the send ------------------------------------------------------------------------------

    def send(self, message: Message) -> Sent | Refused:
        """Send through the layers that are on."""
        self._journal.tried(message)
        self._journal.kept_out.pop(self, None)
        self._latest = message.intent
        if Layer.CHECKPOINTS in self._on:
            return self._in_run(message)
        return self._by_table(message)

    def _in_run(self, message: Message) -> Sent | Refused:
        """Composing is a step and sending is one: a retry sends what was composed (spec: O1, O2).

        The run is the scheduler's, one a day; whoever restarts it finds it again. The lease's token is
        no part of what was composed: it is the process's own.
        """
        run = self._application.run(f"day-{self._now_ms() // DAY_MS}")
        composed = message
        if self._keeps_drafts:
            composed = run.step(f"compose {message.intent}", lambda: message, Message)
        behind = Passage(self._by_table)
        try:
            composed = replace(composed, token=message.token)
            return run.send(f"send {message.intent}", behind, composed)
        finally:
            if not behind.is_passed:
                self._journal.stopped(message.intent, Layer.CHECKPOINTS)

    def _by_table(self, message: Message) -> Sent | Refused:
        """Ask the table by the name of the logical send, which has no run in it (spec: O1, O3)."""
        behind = Passage(self._network.send)
        if Layer.TABLE in self._on:
            answer = self._application.table.send(behind, message, message.intent)
        else:
            answer = behind.send(message)
        if not behind.is_passed:
            self._journal.stopped(message.intent, Layer.TABLE)
        point(NOTED)
        return answer

    # -- all else goes to the mailbox as it is ---------------------------------------------------

    def acquire(self, address: str) -> Lease | Refused:
        """Claim the contact; being kept out is noted in case it stays so."""
        answer = self._mailbox.acquire(address)
        if isinstance(answer, Lease):
            self._journal.kept_out.pop(self, None)
        elif answer.code in STOPPED_BY:
            self._journal.kept_out[self] = address
        return answer

    def lookup(self, key: str) -> Found | Refused:
        """Ask for a key; what may exist is sent no second time."""
        found = self._mailbox.lookup(key)
        if isinstance(found, Found) and found.state in MAY_EXIST and self._latest:
            self._journal.stopped(self._latest, Layer.KEY)
        return found

    def renew(self, address: str, token: int) -> Lease | Refused:
        """As the mailbox does."""
        return self._mailbox.renew(address, token)

    def release(self, address: str, token: int) -> Released | Refused:
        """As the mailbox does."""
        return self._mailbox.release(address, token)

    def suppress(self, address: str, reason: str) -> Noted | Refused:
        """As the mailbox does."""
        return self._mailbox.suppress(address, reason)

    def unsuppress(self, address: str, person: str) -> Noted | Refused:
        """As the mailbox does."""
        return self._mailbox.unsuppress(address, person)

    def override(self, address: str, person: str, reason: str) -> Noted | Refused:
        """As the mailbox does."""
        return self._mailbox.override(address, person, reason)

    def close(self) -> None:
        """As the mailbox does."""
        self._mailbox.close()
