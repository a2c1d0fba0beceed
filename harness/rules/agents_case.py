"""What one process of an agent under test knows of one contact (spec: A1, A2)."""

from __future__ import annotations

from collections.abc import Hashable

from ..contract import Code
from ..history import Operation, OpType
from .agents_draft import Draft
from .people import View

LETTERS_MAX = 32
"""Logical sends to one contact that are remembered."""
DEAD_MAX = 16
"""Tokens of one contact that are known to be dead."""
CONFLICTS_KEPT = 8
"""Refused claims in a row that are shown."""

ROW_KEPT = 10
"""Renewals in a row that are remembered."""

UNKNOWN = frozenset({Code.SEND_STATUS_UNKNOWN, Code.SEND_IN_PROGRESS})
"""Refusals that leave open what became of a send."""
LOST = frozenset({Code.LEASE_EXPIRED, Code.STALE_FENCING_TOKEN, Code.NOT_HOLDER})
"""Refusals that say that a lease is gone."""


class Letter:
    """One logical send, as one process knows it.

    Attributes:
        draft: Its last try.
        unknown: The try whose outcome is unknown and was not cleared by a look-up, or None.
        exists: The look-up that told of a message id, or None.
        sent: The first try that was acknowledged, or None.
    """

    __slots__ = ("draft", "exists", "sent", "unknown")

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.unknown: Operation | None = None
        self.exists: Operation | None = None
        self.sent: Operation | None = None

    def answered(self, draft: Draft) -> None:
        """A try of it was answered, or its reply is lost."""
        self.draft = draft
        op = draft.op
        if op.type is OpType.OK:
            self.unknown = None
            self.sent = self.sent or op
        elif op.type is OpType.INFO or op.code in UNKNOWN:
            self.unknown = op
            self.exists = None

    def looked_up(self, op: Operation) -> None:
        """A look-up of its key was answered: no message id means that it may be tried again."""
        if op.answer.get("message_id"):
            self.exists = op
        else:
            self.unknown = self.exists = None


class Case:
    """What one process knows of one contact.

    Attributes:
        held: Token of the lease it holds, as far as it knows, or None.
        grant: The call that was answered with it.
        uses: Sends made under it.
        row: Renewals in a row, with no other call on this contact between them.
        dead: Token to the call that told that it is worth nothing any more.
        conflict: The last claim that was refused, if none was granted since.
        lease: What tells that conflict's lease from others.
        conflicts: Claims in a row that were refused because of that lease.
        cooling: The send that was refused because of a cooldown, or None.
        silenced: The call that told that the contact is suppressed, or None.
        busy: Mailbox method to its last call, if the store was busy then.
        letters: Logical sends, the last one last.
        last: The last call on this contact.
    """

    __slots__ = (
        "busy",
        "conflict",
        "conflicts",
        "cooling",
        "dead",
        "grant",
        "held",
        "last",
        "lease",
        "letters",
        "row",
        "silenced",
        "uses",
    )

    def __init__(self) -> None:
        self.held: int | None = None
        self.grant: Operation | None = None
        self.uses = 0
        self.row: list[Operation] = []
        self.dead: dict[int, Operation] = {}
        self.conflict: Operation | None = None
        self.lease: tuple[Hashable, ...] = ()
        self.conflicts: list[Operation] = []
        self.cooling: Operation | None = None
        self.silenced: Operation | None = None
        self.busy: dict[str, Operation] = {}
        self.letters: list[Letter] = []
        self.last: Operation | None = None

    def letter_of(self, draft: Draft) -> Letter | None:
        """The logical send that a draft is a try of, or None if it is the first."""
        for letter in reversed(self.letters):
            if draft.is_same_send(letter.draft):
                return letter
        return None

    # -- what a call does to it --------------------------------------------------------------------

    def called(self, op: Operation, draft: Draft | None) -> None:
        """A call begins."""
        if op.f != "renew":
            self.row.clear()
        if op.f == "release" and op.args.get("token") == self.held:
            self.held = None
        if draft is not None and self.held is not None:
            self.uses += 1
        self.busy.pop(op.f, None)

    def answered(self, view: View, draft: Draft | None) -> None:
        """A call ended, and this is what its process saw."""
        op = view.op
        self.last = op
        if draft is not None:
            self._sent(draft)
        if op.f == "acquire":
            self._claimed(view)
        elif op.f == "renew":
            self._renewed(op)
        elif op.f == "release" and op.type is OpType.OK:
            self._bury(op.args.get("token"), op)
        elif (op.f == "suppress" and op.type is OpType.OK) or op.answer.get("opted_out"):
            self.silenced = op
        if op.code == Code.STORE_BUSY:
            self.busy[op.f] = op
        if op.code in LOST:
            self._bury(view.token, op)

    def _sent(self, draft: Draft) -> None:
        letter = self.letter_of(draft)
        if letter is None:
            letter = Letter(draft)
            self.letters = [*self.letters, letter][-LETTERS_MAX:]
        letter.answered(draft)
        if draft.op.code == Code.SUPPRESSED:
            self.silenced = draft.op
        if draft.op.code == Code.COOLDOWN_ACTIVE:
            self.cooling = draft.op

    def _claimed(self, view: View) -> None:
        op = view.op
        if op.type is OpType.OK:
            self._bury(self.held, op)
            self.held, self.grant, self.uses = op.answer["token"], op, 0
            self.dead.pop(op.answer["token"], None)
            self.conflict, self.lease, self.conflicts = None, (), []
        elif is_conflict(op):
            lease = lease_refused_by(view)
            self.conflicts = [*(self.conflicts if lease == self.lease else ()), op][
                -CONFLICTS_KEPT:
            ]
            self.conflict, self.lease = op, lease

    def _renewed(self, op: Operation) -> None:
        if op.type is OpType.OK:
            self.row = [*self.row, op][-ROW_KEPT:]
            self.held = op.answer.get("token", self.held)
        else:
            self.row.clear()
            self.held = None

    def _bury(self, token: int | None, op: Operation) -> None:
        if token is None:
            return
        self.dead.setdefault(token, op)
        if len(self.dead) > DEAD_MAX:
            del self.dead[min(self.dead)]
        if token == self.held:
            self.held = None


def is_conflict(op: Operation) -> bool:
    """Whether a claim was refused because of another lease (spec: R1, R2)."""
    return op.f == "acquire" and op.code in {Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED}


def lease_refused_by(view: View) -> tuple[Hashable, ...]:
    """What tells the lease that refused a claim from others: the agent's doubt is kept, not ours."""
    return (view.op.answer.get("owner"), *leases_so_far(view))


def leases_so_far(view: View) -> tuple[int | None, int]:
    """What changes when the contact may have been granted anew, other than by this very call."""
    person = view.person
    others = sum(each is not view.op for each in person.asked)
    return (person.top.token if person.top else None, others)


__all__ = ["LOST", "UNKNOWN", "Case", "Letter", "is_conflict", "lease_refused_by", "leases_so_far"]
