"""The layers, and which of them are on in each column of the matrix (spec: O1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """What may stop a message from going out a second time."""

    KEY = "key"
    """The idempotency key at the mailbox, with the look-up by it: layer one."""
    TABLE = "sent-table"
    """The application's table of what was sent: layer two."""
    CHECKPOINTS = "checkpoints"
    """Finished steps are durable and replayed: layer three."""
    LEASE = "lease"
    """One agent at a time works on a contact, and a stale token sends nothing."""
    COOLDOWN = "cooldown"
    """After a message the contact is left alone for a while."""


THREE = frozenset({Layer.KEY, Layer.TABLE, Layer.CHECKPOINTS})
"""The layers of spec O1."""
ALL = frozenset(Layer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which layers are on.

    Args:
        name: What the column is called.
        on: The layers that are on.
        keeps_drafts: Checkpoints keep what was composed, not only what a send came to.
    """

    name: str
    on: frozenset[Layer]
    keeps_drafts: bool = True


NONE_ON = Layout(name="none", on=frozenset())
ALONE = tuple(Layout(name=layer.value, on=frozenset({layer})) for layer in Layer)
THREE_ON = Layout(name="three", on=THREE)
NO_DRAFT = Layout(name="three, no draft", on=THREE, keeps_drafts=False)
ALL_ON = Layout(name="all", on=ALL)
WITHOUT = tuple(Layout(name=f"no {layer.value}", on=ALL - {layer}) for layer in Layer)
LAYOUTS = (NONE_ON, *ALONE, NO_DRAFT, THREE_ON, ALL_ON, *WITHOUT)
"""Every column, in order."""
