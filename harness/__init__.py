"""The machine that runs and judges; it knows no implementation.

What a user writes a target or a scenario with is here; the rest is in the modules.
"""

from .contract import (
    AgentContext,
    AuditRecord,
    Capability,
    Cleaned,
    Code,
    Endpoint,
    Environment,
    Found,
    FullMailbox,
    Lease,
    Mailbox,
    Message,
    MessageKind,
    Noted,
    Received,
    Refused,
    Released,
    SendState,
    Sent,
    Settings,
    Taken,
    Target,
    UsageError,
)
from .points import point
from .scenario import Contact, Race, Variant, scenario

__all__ = [
    "AgentContext",
    "AuditRecord",
    "Capability",
    "Cleaned",
    "Code",
    "Contact",
    "Endpoint",
    "Environment",
    "Found",
    "FullMailbox",
    "Lease",
    "Mailbox",
    "Message",
    "MessageKind",
    "Noted",
    "Race",
    "Received",
    "Refused",
    "Released",
    "SendState",
    "Sent",
    "Settings",
    "Taken",
    "Target",
    "UsageError",
    "Variant",
    "point",
    "scenario",
]
