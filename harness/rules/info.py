"""What the rules must know of a race before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec

from ..contract import Capability, Settings
from ..history import VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceInfo:
    """What a rule must know of a race before it begins; from the mark ``race.begin``.

    Args:
        settings: Lengths in force.
        capabilities: What the target can do.
        agents: Ids of the agents.
        isolated: False where the target's fixed lengths keep a layer on that should be off.
        clock: ``real``, or ``virtual`` where the history's clock is the store's own.
    """

    settings: Settings = field(default_factory=Settings)
    capabilities: frozenset[Capability] = frozenset(Capability)
    agents: tuple[str, ...] = ()
    isolated: bool = True
    clock: str = "real"

    @classmethod
    def from_mark(cls, data: Mapping[str, Any]) -> RaceInfo:
        """Read the data of a ``race.begin`` mark."""
        names = (each.name for each in fields(cls))
        return msgspec.convert({name: data[name] for name in names if name in data}, cls)

    def to_mark(self) -> dict[str, Any]:
        """The same as JSON."""
        value: dict[str, Any] = msgspec.to_builtins(self) | {"version": VERSION}
        value["capabilities"] = sorted(value["capabilities"])
        return value
