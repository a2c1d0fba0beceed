"""The send path: six steps at dispatch, in their order, then the delivery (spec: S)."""

from __future__ import annotations

from leaserace.harness.contract import (
    Message,
    NoAnswer,
    Refused,
    Rejected,
    SendState,
    Sent,
    Transport,
)
from leaserace.harness.points import point

from .audit import Audit
from .budgets import Breaker, Budget
from .cancelling import Cancelling
from .checks import Checks, Seen
from .cooldown import Cooldown
from .idempotency import STATUS_SENT, Draft, Keys
from .identity import Identity
from .inbound import OptOuts
from .leases import Leases
from .letters import Letter
from .lint import Lint
from .outbox import Outbox
from .outcomes import (
    Refusal,
    rejected,
    send_cancelled,
    send_in_progress,
    send_unknown,
    store_busy,
    strongest,
    unfit,
)
from .policy import Policy
from .records import SendRow
from .stores.protocol import Store, StoreBusy, Transaction
from .suppression import Suppression


class Sending(Checks):
    """Runs a send from the address to the receiving side; a method for each step and safeguard.

    Args:
        agent: Who sends.
        policy: Deadlines and the sender.
        store: Where records are.
        transport: The door mail leaves by.
        identity: Addresses to keys (S1).
        lint: What is looked at before anything is looked up (O6).
        keys: Idempotency keys (S2).
        leases: Tokens and leases (S3).
        suppression: The list (S4).
        cooldown: The timeline (S5).
        breaker: Whether sending is halted (O5).
        budget: What the agent may do without a person (O5).
        outbox: Send records (S6, S8).
        opt_outs: Whom a message's opt-out belongs to (C6).
        cancelling: Which keys were cancelled (X17).
        audit: The log.
    """

    def __init__(
        self,
        *,
        agent: str,
        policy: Policy,
        store: Store,
        transport: Transport,
        identity: Identity,
        lint: Lint,
        keys: Keys,
        leases: Leases,
        suppression: Suppression,
        cooldown: Cooldown,
        breaker: Breaker,
        budget: Budget,
        outbox: Outbox,
        opt_outs: OptOuts,
        cancelling: Cancelling,
        audit: Audit,
    ) -> None:
        super().__init__(
            leases=leases,
            suppression=suppression,
            cooldown=cooldown,
            breaker=breaker,
            budget=budget,
            audit=audit,
        )
        self._agent = agent
        self._policy = policy
        self._deadline_s = policy.store_deadline_s
        self._outcome_deadline_s = policy.transport_timeout_s
        self._store = store
        self._transport = transport
        self._identity = identity
        self._lint = lint
        self._keys = keys
        self._outbox = outbox
        self._opt_outs = opt_outs
        self._cancelling = cancelling

    def send(self, message: Message) -> Sent | Refused:
        """Send one message, or say what became of it.

        Raises:
            Refusal: The message itself can't be sent; nothing was looked up.
            StoreBusy: Nothing happened.
        """
        draft = self._normalise(message)
        point("send.normalised", draft.contact, draft.key)
        authorised = self._authorise(draft)
        if not isinstance(authorised, SendRow):
            return authorised
        point("send.recorded", draft.contact, draft.key)
        dispatching = self._step_into_dispatching(draft, authorised)
        if not isinstance(dispatching, SendRow):
            return dispatching
        point("send.dispatching", draft.contact, draft.key)
        if self._is_too_late(dispatching):
            return self._withhold(draft, dispatching)
        return self._deliver(draft, dispatching)

    # -- steps one to six ------------------------------------------------------------------------

    def _normalise(self, message: Message) -> Draft:
        """Step one: the recipient becomes the lease key; the key gets its compared form (S1, K3)."""
        self._inspect(message)
        recipient = self._identity.key(message.to)
        return Draft(
            message=message,
            contact=recipient.key,
            recipient=recipient.address,
            key=self._keys.normalise(message.key),
            fingerprint=self._keys.fingerprint(recipient.key, message),
        )

    def _inspect(self, message: Message) -> None:
        """Refuse what can't be sent as it is before its key is looked at (spec: O6)."""
        faults = self._lint.faults(message)
        if faults:
            known = all(fault.field != "to" for fault in faults)
            contact = self._identity.key(message.to).key if known else ""
            raise Refusal(unfit(faults), contact)

    def _authorise(self, draft: Draft) -> SendRow | Sent | Refused:
        """Steps two to six in one transaction: no check can be outdated by the record (S6)."""
        with self._store.transaction(self._deadline_s) as tx:
            known = self._resolve_key(tx, draft)
            point("send.key_resolved", draft.contact, draft.key)
            if known is not None:
                return known
            self._outbox.settle_contact(tx, draft.contact)
            seen = self._look(tx, draft)
            refusals = self._check(seen, draft)
            point("send.checked", draft.contact, draft.key)
            return self._record(tx, draft, seen, refusals)

    def _resolve_key(self, tx: Transaction, draft: Draft) -> Sent | Refused | None:
        """Step two: what an earlier try came to is answered before any other check (S2)."""
        row = self._keys.find(tx, draft.key)
        if row is not None:
            row = self._outbox.settle_overdue(tx, row)
            answer = self._keys.answer(row, draft)
            if answer is not None:
                self._note_known(tx, draft, row, answer)
                return answer
        return self._check_cancelled(tx, draft)

    def _check_cancelled(self, tx: Transaction, draft: Draft) -> Refused | None:
        """What was taken back is not sent, however late its try comes (spec: X17)."""
        cancelled = self._cancelling.find(tx, draft.key)
        if cancelled is None:
            return None
        refused = send_cancelled(draft.key, cancelled)
        self._note_cancelled(tx, draft, cancelled, refused)
        return refused

    def _record(
        self, tx: Transaction, draft: Draft, seen: Seen, refusals: list[Refused]
    ) -> SendRow | Refused:
        """Step six: the refusal, or the authorisation with its record (S6, S7)."""
        if refusals:
            refused = strongest(refusals)
            self._note_refused(tx, "send", draft, seen, refused)
            return refused
        row = self._outbox.authorise(tx, draft)
        self._opt_outs.offer(tx, row, draft.message)
        self._budget.spend(tx, row.key)
        if seen.cooldown_until_ms is not None:
            self._cooldown.use_override(tx, draft.contact)
        self._note_authorised(tx, row, seen)
        return row

    # -- delivery --------------------------------------------------------------------------------

    def _step_into_dispatching(self, draft: Draft, row: SendRow) -> SendRow | Sent | Refused:
        """Look at token and list again, then commit that the message may leave (S8)."""
        try:
            with self._store.transaction(self._outcome_deadline_s) as tx:
                mine = self._outbox.still_mine(tx, row)
                if mine is None:
                    return self._overtaken(tx, draft, row)
                seen = self._look(tx, draft)
                refusals = self._check_again(seen, draft)
                if not refusals:
                    return self._outbox.dispatch(tx, mine)
                refused = strongest(refusals)
                self._note_refused(tx, "dispatch", draft, seen, refused)
                self._outbox.settle(tx, mine, SendState.WITHDRAWN, refused.detail)
                return refused
        except StoreBusy:
            # Authorised and never handed over: past its deadline it counts as withdrawn.
            return store_busy(self._outcome_deadline_s, "nothing was handed over")

    def _overtaken(self, tx: Transaction, draft: Draft, row: SendRow) -> Sent | Refused:
        """This try took so long that its record was settled or taken over by another."""
        current = self._keys.find(tx, row.key) or row
        answer = self._keys.answer(current, draft)
        if answer is None:
            cancelled = self._check_cancelled(tx, draft)
            if cancelled is not None:
                return cancelled
            answer = send_in_progress(current, "this try was withdrawn before it was handed over")
        self._note_known(tx, draft, current, answer)
        return answer

    def _is_too_late(self, row: SendRow) -> bool:
        """A worker that slept past its deadline hands nothing over: others act on its being gone.

        Nobody settles a dispatching record before its deadline, so one look at the store's clock is
        enough. What remains is a worker that falls asleep between this look and the transport, or in
        it, for longer than the deadline and then the time after which "no such message" is believed:
        that gap can't be closed, only made small (spec: S8).
        """
        return self._store.now_ms() >= row.deadline_ms

    def _withhold(self, draft: Draft, row: SendRow) -> Sent | Refused:
        """Say that no message of this try exists, and what became of the send meanwhile (S8, S9)."""
        try:
            with self._store.transaction(self._outcome_deadline_s) as tx:
                why = "its deadline had passed before the hand-over"
                current = self._outbox.conclude(tx, row, SendState.WITHDRAWN, why)
                return self._overtaken(tx, draft, current)
        except StoreBusy:
            return store_busy(self._outcome_deadline_s, "nothing was handed over")

    def _deliver(self, draft: Draft, row: SendRow) -> Sent | Refused:
        """Hand the message over once and record what came of it (S8, K10)."""
        state, why = self._hand_over(draft, row)
        point("send.handed_over", draft.contact, draft.key)
        settled = self._settle(row, state, why)
        if settled is None:
            return send_unknown(row)
        point("send.settled", draft.contact, draft.key)
        match settled.state:
            case SendState.DELIVERED:
                return self._sent(row)
            case SendState.WITHDRAWN:
                return rejected(row, why)
            case _:
                return send_unknown(row)

    def _hand_over(self, draft: Draft, row: SendRow) -> tuple[SendState, str]:
        """Delivered if the transport took it, withdrawn if it surely did not, else unknown (S8)."""
        letter = Letter(policy=self._policy, draft=draft, row=row)
        try:
            self._transport.hand_over(letter)
        except NoAnswer as error:
            return SendState.UNKNOWN, str(error)
        except Rejected as error:
            return SendState.WITHDRAWN, str(error)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, it may have been taken
            return SendState.UNKNOWN, f"{type(error).__name__}: {error}"
        return SendState.DELIVERED, ""

    def _settle(self, row: SendRow, state: SendState, why: str) -> SendRow | None:
        """Record the outcome; None if the store was too busy: then the record says "unknown"."""
        try:
            with self._store.transaction(self._outcome_deadline_s) as tx:
                return self._outbox.conclude(tx, row, state, why)
        except StoreBusy:
            return None

    def _sent(self, row: SendRow) -> Sent:
        return Sent(message_id=row.message_id, status=STATUS_SENT)


__all__ = ["Seen", "Sending"]
