"""Takes in what contacts write: each message once, an opt-out before anything else (spec: O4, C3, C6).

A message is recorded, and the opt-out in it is on the list, in one transaction. Whoever holds a lease
releases it afterwards, so nobody who gets the contact next can miss the opt-out (spec: C3).
"""

from __future__ import annotations

from collections.abc import Mapping

from leaserace.harness.contract import Message, MessageKind, Noted, Received, Taken
from leaserace.harness.points import point

from .audit import Audit
from .identity import Identity, InvalidAddress
from .letters import ONE_CLICK, offers_own_opt_out, opt_out_token
from .outcomes import Refusal, event_unusable, invalid_address, opt_out_unknown
from .policy import Policy, ms
from .records import InboundRow, OptOutRow, SendRow
from .stores.protocol import Store, Transaction
from .suppression import OPT_OUT, Suppression
from .wording import asks_to_stop

EVENT_ID_LENGTH_MAX = 998


class OptOuts:
    """What the opt-outs of messages that left stand for (spec: C6).

    Args:
        policy: For how long they work.
    """

    def __init__(self, policy: Policy) -> None:
        # The message leaves after its authorisation, at the latest when its deadline ends.
        self._works_ms = ms(policy.opt_out_s) + ms(policy.send_deadline_s)
        self._offered = bool(policy.opt_out_url or policy.opt_out_address)

    def offer(self, tx: Transaction, row: SendRow, message: Message) -> None:
        """Keep, with the authorisation, whom the message's opt-out belongs to."""
        commercial = message.kind is MessageKind.COMMERCIAL
        if self._offered and commercial and not offers_own_opt_out(message):
            token, until_ms = opt_out_token(row.message_id), tx.now_ms + self._works_ms
            tx.put(OptOutRow(key=token, contact=row.contact, until_ms=until_ms))

    def find(self, tx: Transaction, token: str) -> OptOutRow | None:
        """Whose opt-out it is; it works at least until its end, and longer if nobody cleaned up."""
        return tx.get(OptOutRow, token.strip().lower())


class Inbound:
    """Takes messages and opt-outs; a method for each safeguard.

    Args:
        policy: The address opt-outs are mailed to.
        store: Where the records are.
        identity: Addresses to keys.
        suppression: The list.
        opt_outs: Whom a message's opt-out belongs to.
        audit: The log.
    """

    def __init__(
        self,
        *,
        policy: Policy,
        store: Store,
        identity: Identity,
        suppression: Suppression,
        opt_outs: OptOuts,
        audit: Audit,
    ) -> None:
        self._opt_out_address = policy.opt_out_address
        self._deadline_s = policy.store_deadline_s
        self._store = store
        self._identity = identity
        self._suppression = suppression
        self._opt_outs = opt_outs
        self._audit = audit

    def take(self, received: Received) -> Taken:
        """Record the message and, before anybody can do anything else, an opt-out (spec: O4, C3).

        Raises:
            Refusal: It has no id, or its sender is no address; nothing was recorded.
        """
        event_id = _event_id(received.event_id)
        sender = self._contact(received.sender)
        with self._store.transaction(self._deadline_s) as tx:
            earlier = self._seen(tx, event_id)
            if earlier is not None:
                return self._again(tx, earlier)
            point("receive.seen", sender)
            taken = self._record(tx, event_id, sender, received)
        point("receive.committed", taken.key)
        if taken.opted_out:
            point("suppress.committed", taken.key)
        return taken

    def one_click(self, token: str, form: Mapping[str, str]) -> Noted:
        """The one-click form of List-Unsubscribe: no question, no log-in, no fee (spec: C6).

        Args:
            token: The ``m`` of the opt-out address's query.
            form: What was posted.

        Raises:
            Refusal: It is no one-click form, or no message of ours has this token.
        """
        name, _, value = ONE_CLICK.partition("=")
        if form.get(name, "").strip() != value:
            raise Refusal(event_unusable("an opt-out", f"the form has to say {ONE_CLICK}"))
        with self._store.transaction(self._deadline_s) as tx:
            row = self._opt_outs.find(tx, token)
            if row is None:
                raise Refusal(opt_out_unknown(token))
            noted = self._suppression.put_on(tx, row.contact, OPT_OUT)
        point("suppress.committed", row.contact)
        return noted

    def _contact(self, sender: str) -> str:
        try:
            return self._identity.key(sender).key
        except InvalidAddress as error:
            raise Refusal(invalid_address(str(error))) from error

    def _seen(self, tx: Transaction, event_id: str) -> InboundRow | None:
        """What is recorded of a message that was told of before (spec: O4)."""
        return tx.get(InboundRow, event_id)

    def _again(self, tx: Transaction, row: InboundRow) -> Taken:
        self._note(tx, "repeated", row)
        return Taken(key=row.contact, first=False, opted_out=bool(row.reason), at_ms=row.at_ms)

    def _record(self, tx: Transaction, event_id: str, sender: str, received: Received) -> Taken:
        contact = self._opted_out(tx, sender, received)
        row = InboundRow(
            key=event_id,
            contact=contact or sender,
            reason=OPT_OUT if contact else "",
            at_ms=tx.now_ms,
        )
        tx.put(row)
        if contact:
            self._suppression.put_on(tx, contact, OPT_OUT, received.received_at_ms)
        self._note(tx, "noted", row)
        return Taken(key=row.contact, first=True, opted_out=bool(contact), at_ms=row.at_ms)

    def _opted_out(self, tx: Transaction, sender: str, received: Received) -> str | None:
        """Whom the message takes off our mail, or None: by its address, or by its words (C6, O4)."""
        if self._is_opt_out_address(received.to):
            # A reply may come from another address than the one we wrote to.
            tokens = received.subject.split()
            rows = (self._opt_outs.find(tx, token) for token in tokens[-1:])
            return next((row.contact for row in rows if row is not None), sender)
        return sender if asks_to_stop(received.subject, received.body) else None

    def _is_opt_out_address(self, to: str) -> bool:
        if not self._opt_out_address or not to.strip():
            return False
        try:
            return self._identity.key(to).key == self._identity.key(self._opt_out_address).key
        except InvalidAddress:
            return False

    def _note(self, tx: Transaction, decision: str, row: InboundRow) -> None:
        state = {"event_id": row.key, "opted_out": bool(row.reason)}
        self._audit.note(tx, event="receive", key=row.contact, decision=decision, state=state)


def _event_id(text: str) -> str:
    """The id without white space around it; a message without one can't be told from another."""
    stripped = text.strip()
    if not stripped or len(stripped) > EVENT_ID_LENGTH_MAX:
        why = f"its id has to have 1 to {EVENT_ID_LENGTH_MAX} characters"
        raise Refusal(event_unusable("a received message", why))
    return stripped
