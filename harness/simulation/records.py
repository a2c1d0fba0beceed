"""Events a simulated run adds to what its agents record: the race's begin, the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..contract import AuditRecord
from ..history import AuditEvent, MarkEvent
from ..rules.base import RaceInfo

if TYPE_CHECKING:
    from .world import World

_FIELDS = tuple(field.name for field in fields(AuditRecord))
_values = attrgetter(*_FIELDS)


def race_begin(world: World, info: RaceInfo, **more: Any) -> MarkEvent:
    """The mark a race's history begins with; ``clock`` says that times are virtual."""
    data = info.to_mark() | {"clock": "virtual", "epoch_ms": world.clock.peek_ms()} | more
    return MarkEvent(t=world.now_ns(), name="race.begin", data=data)


def audit_events(records: Iterable[AuditRecord], world: World) -> Iterator[AuditEvent]:
    """The target's decisions as events, in their commit order."""
    for record in records:
        value = dict(zip(_FIELDS, _values(record), strict=True))
        yield AuditEvent(t=world.now_ns(), seq=record.seq, value=value)
