"""The machine that runs and judges; it knows no implementation.

What a user writes a target or a scenario with is here; the rest is in the modules.
"""

from .contract import (
    AgentContext,
    AuditRecord,
    Capability,
    Code,
    Environment,
    Found,
    Lease,
    Mailbox,
    Message,
    MessageKind,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
    Settings,
    Target,
    UsageError,
)
from .points import point
from .scenario import Contact, Race, Variant, scenario

__all__ = [
    "AgentContext",
    "AuditRecord",
    "Capability",
    "Code",
    "Contact",
    "Environment",
    "Found",
    "Lease",
    "Mailbox",
    "Message",
    "MessageKind",
    "Noted",
    "Race",
    "Refused",
    "Released",
    "SendState",
    "Sent",
    "Settings",
    "Target",
    "UsageError",
    "Variant",
    "point",
    "scenario",
]
