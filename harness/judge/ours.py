"""The mapping of our own audit log, so that it needs no file."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from typing import Any

from .mapping import Mapping
from .mapping_file import mapping_from

OURS: MappingOf[str, Any] = {
    "version": 1,
    "format": "jsonl",
    "lenient": True,
    "time": {"field": "at_ms", "format": "unix_ms"},
    "fields": {
        "event": ["event", "decision"],
        "agent": "actor",
        "recipient": "key",
        "seq": "seq",
        "code": "decision",
        "token": "token",
        "owner": "owner",
        "lease_key": "key",
        "held_token": "state.lease.token",
        "held_until": "state.lease.expires_at_ms",
        "until": "state.cooldown.until_ms",
        "idempotency_key": "idempotency_key",
        "message_id": "message_id",
    },
    "events": {
        "acquire/granted": "acquire.ok",
        "renew/renewed": "renew.ok",
        "release/released": "release.ok",
        "send/authorized": "send.begin",
        "send/replayed": "send.replay",
        "dispatch/dispatching": "dispatch",
        "dispatch/*": "send.fail",
        "deliver/delivered": ["send.ok", "delivery"],
        "deliver/unknown": "send.unknown",
        "deliver/withdrawn": "send.fail",
        "withdraw/withdrawn": "send.fail",
        "suppress/noted": "suppress.ok",
        "unsuppress/noted": "unsuppress.ok",
        "override/noted": "override.ok",
        "acquire/*": "acquire",
        "renew/*": "renew",
        "release/*": "release",
        "send/*": "send",
        "resubscribe/noted": "unsuppress.ok",
        "suppress/*": "suppress",
        "unsuppress/*": "unsuppress",
        "override/*": "override",
        "*": "ignore",
    },
    "contact": {"identity": "plain"},
    "state": {"fields": ["state"], "form": "leaserace"},
}
"""The mapping of an audit log of `AuditRecord` lines, as the reference writes them."""


def our_mapping() -> Mapping:
    """The mapping of our own audit log."""
    return mapping_from(OURS, "leaserace's own mapping")


__all__ = ["OURS", "our_mapping"]
