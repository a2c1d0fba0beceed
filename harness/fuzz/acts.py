"""Steps that are one call of the mailbox: what is asked, from what the run knows."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from ..answers import event_to_json, message_to_json
from ..contract import Capability, Endpoint, Message, MessageKind, Received, Taken
from ..scenario import Contact, Race
from .hands import Draft, Errands, Hand, Told
from .known import Known
from .messages import made_by, reworded
from .steps import Cause, Habit, Letter, Step, Token, Verb

ENDPOINTS = {
    Endpoint.SEND: Capability.SEND,
    Endpoint.REPLY: Capability.REPLY,
    Endpoint.FORWARD: Capability.FORWARD,
}
NEEDED = {
    Verb.ACQUIRE: Capability.LEASE,
    Verb.RENEW: Capability.LEASE,
    Verb.RELEASE: Capability.LEASE,
    Verb.SEND: Capability.SEND,
    Verb.RETRY: Capability.SEND,
    Verb.LOOKUP: Capability.LOOKUP,
    Verb.CANCEL: Capability.CANCEL,
    Verb.SUPPRESS: Capability.SUPPRESS,
    Verb.CLEAR: Capability.SUPPRESS,
    Verb.OVERRIDE: Capability.OVERRIDE,
    Verb.RECEIVE: Capability.INBOUND,
    Verb.PHONE: Capability.CONTACT_LOAD,
}
"""What a target must declare before it is asked."""
LETTERS = {
    Letter.QUESTION: "Thank you. How much is it for ten?\n",
    Letter.UNSUBSCRIBE: "Please unsubscribe me from this list.\n",
}


class Acts:
    """Makes calls; a `Stage` knows what they need."""

    race: Race
    capabilities: Set[Capability]
    hands: list[Hand]
    contacts: list[Contact]
    drafts: list[Draft]
    events: list[tuple[int, Received]]
    told: list[Told]
    errands: Errands | None
    model: Any
    known: Known

    def _call(self, step: Step, f: str, **args: Any) -> Told | None:
        raise NotImplementedError

    def _is_ready(self, hand: Hand) -> bool:
        raise NotImplementedError

    def _spelling(self, step: Step) -> int:
        raise NotImplementedError

    def _address(self, step: Step) -> str:
        raise NotImplementedError

    def _person_of(self, step: Step) -> str:
        raise NotImplementedError

    def _draft(self, step: Step) -> Draft | None:
        raise NotImplementedError

    def _token(self, step: Step) -> int | None:
        raise NotImplementedError

    def _acquire(self, step: Step) -> Told | None:
        return self._call(step, "acquire", address=self._address(step))

    def _renew(self, step: Step) -> Told | None:
        token = self._token(step)
        if token is None:
            return None
        return self._call(step, "renew", address=self._address(step), token=token)

    def _release(self, step: Step) -> Told | None:
        token = self._token(step)
        if token is None:
            return None
        return self._call(step, "release", address=self._address(step), token=token)

    def _send(self, step: Step) -> Told | None:
        token = self._token(step)
        if not self._is_ready(self.hands[step.agent]) or (
            token is None and step.token is not Token.NONE
        ):
            return None
        kind = MessageKind.TRANSACTIONAL if step.habit is Habit.REPLY else MessageKind.COMMERCIAL
        message = self.race.message(
            self.contacts[step.contact], spelling=self._spelling(step), kind=kind
        )
        message = made_by(step.habit, replace(message, token=token))
        if not self._has_endpoint(message):
            return None
        self.drafts.append(Draft(contact=step.contact, agent=step.agent, message=message))
        return self._call(step, "send", message=message_to_json(message))

    def _has_endpoint(self, message: Message) -> bool:
        return ENDPOINTS[message.endpoint] in self.capabilities

    def _retry(self, step: Step) -> Told | None:
        draft = self._draft(step)
        if draft is None or not self._is_ready(self.hands[step.agent]):
            return None
        if step.habit is not Habit.READDRESSED:
            step = replace(step, contact=draft.contact)
        elif step.contact == draft.contact:
            return None
        token = self._token(step)
        message = made_by(step.habit, draft.message)
        if not self._has_endpoint(message):
            return None
        if step.habit is Habit.READDRESSED:
            message = replace(message, to=self._address(step))
        message = replace(message, token=draft.message.token if token is None else token)
        if step.habit is Habit.REWORDED:
            message = reworded(message, len(self.told))
        if step.habit is Habit.REKEYED:
            before = self._draft(replace(step, back=step.back + 1))
            if before is None:
                return None
            message = replace(message, key=before.message.key)
        return self._call(step, "send", message=message_to_json(message))

    def _lookup(self, step: Step) -> Told | None:
        draft = self._draft(step)
        if draft is None or draft.message.key is None:
            return None
        step = replace(step, contact=draft.contact)
        return self._call(step, "lookup", key=draft.message.key)

    def _suppress(self, step: Step) -> Told | None:
        if step.option == Cause.LATE:
            return self._tell_late(step)
        self.known.listed.add(step.contact)
        if self.model is not None and step.option != Cause.OPT_OUT:
            self.model.may_halt = True
        return self._call(step, "suppress", address=self._address(step), reason=step.option)

    def _clear(self, step: Step) -> Told | None:
        person = self._person_of(step)
        return self._call(step, "unsuppress", address=self._address(step), person=person)

    def _override(self, step: Step) -> Told | None:
        person, reason = self._person_of(step), "they asked for it"
        return self._call(
            step, "override", address=self._address(step), person=person, reason=reason
        )

    def _tell_late(self, step: Step) -> Told | None:
        """Only where a person cleared the contact since: else it would count (spec: C7)."""
        cleared_ms = self.known.cleared_at_ms.get(step.contact)
        if self.errands is None or not self.errands.can_tell_late or cleared_ms is None:
            return None
        return self._call(
            step,
            "suppress",
            address=self._address(step),
            reason=str(Cause.BOUNCE),
            event_at_ms=cleared_ms - 1,
        )

    def _receive(self, step: Step) -> Told | None:
        """A webhook tells of something new, or of what it told before."""
        if not self._is_ready(self.hands[step.agent]):
            return None
        if step.option == Letter.AGAIN:
            if step.back >= len(self.events):
                return None
            contact, event = self.events[-1 - step.back]
            step = replace(step, contact=contact)
        else:
            event = self.race.inbound(
                self.contacts[step.contact],
                LETTERS[Letter(step.option)],
                spelling=self._spelling(step),
            )
            self.events.append((step.contact, event))
        told = self._call(step, "receive", event=event_to_json(event))
        if told is not None and isinstance(told.answer, Taken):
            wanted = event.body == LETTERS[Letter.UNSUBSCRIBE]
            self.race.require("an opt-out in it", wanted=wanted, observed=told.answer.opted_out)
        return told

    def _cancel(self, step: Step) -> Told | None:
        draft = self._draft(step)
        if draft is None or draft.message.key is None:
            return None
        return self._call(replace(step, contact=draft.contact), "cancel", key=draft.message.key)

    def _phone(self, step: Step) -> Told | None:
        """A contact by another channel (spec: C5)."""
        return self._call(step, "note_contact", address=self._address(step), channel="telephone")

    def _clean_up(self, step: Step) -> Told | None:
        """By its own call where there is one, else from behind."""
        if Capability.CLEAN_UP in self.capabilities:
            return self._call(step, "clean_up")
        hand = self.hands[step.agent]
        if self.errands is None or not self.errands.can_clean_up or not self._is_ready(hand):
            return None
        self.errands.clean_up(hand.actor)
        return Told(step=step)


__all__ = ["Acts"]
