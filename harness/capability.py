"""What a target can do, as it declares it."""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """What a target can do; a scenario that needs what is not declared is "not applicable"."""

    LEASE = "lease"
    """`acquire`, `renew` and `release`."""
    FENCING = "fencing"
    """Grants carry a rising token and `send` is judged by it."""
    SEND = "send"
    """`send` hands mail to ``env.smtp`` (or ``env.transport``)."""
    REPLY = "reply"
    """`reply` answers a message, by the same rules as `send`."""
    FORWARD = "forward"
    """`forward` passes a message on, by the same rules as `send`."""
    IDEMPOTENCY = "idempotency"
    """`send` honours an idempotency key, and so does every other endpoint that sends (spec: K8)."""
    LOOKUP = "lookup"
    """`lookup` tells what became of an idempotency key."""
    CANCEL = "cancel"
    """`cancel` takes a send back, or says truthfully that it is too late."""
    MESSAGE_ID = "message_id"
    """`Sent.message_id` is the Message-ID header that the receiving side sees."""
    SUPPRESS = "suppress"
    """`suppress` and `unsuppress` keep a shared list."""
    COOLDOWN = "cooldown"
    """A delivery blocks the next one to the same contact for a while."""
    INBOUND = "inbound"
    """`receive` takes what contacts write, each message once, opt-outs in it included."""
    OVERRIDE = "override"
    """`override` lets a person skip a cooldown."""
    ALIASES = "aliases"
    """Domain aliases and Gmail's dots and tags are one contact."""
    CONTACT_LOAD = "contact_load"
    """Leases tell the contact load, and `note_contact` counts a contact by another channel."""
    CLEAN_UP = "clean_up"
    """`clean_up` removes old rows when it is asked to."""
    AUDIT = "audit"
    """`Target.audit` returns the decisions in commit order."""
