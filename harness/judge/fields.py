"""Which fields of a log a mapping asks for, and which fields its rows store."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from ..contract import UsageError
from .mapping import Mapping

NAMES_CACHED = 10_000
NEEDED = ("time", "event", "recipient")
OPTIONAL: dict[str, str] = {
    "agent": "agent",
    "record_id": "record_id",
    "token": "token",
    "message_id": "message_id",
    "idempotency_key": "key",
    "operation": "operation",
    "seq": "seq",
    "store_time": "store_ms",
    "owner": "owner",
    "expires_at": "expires_ms",
    "acquired_at": "acquired_ms",
    "held_token": "held_token",
    "held_until": "held_until_ms",
    "until": "until_ms",
    "lease_key": "lease_key",
    "started_at": "started",
    "subject": "subject",
    "body": "body",
    "replay": "replay",
    "person": "person",
}
"""Field of the mapping to field of the record, for what needs no more than its conversion."""
SPECIAL = ("code", "kind", "ttl_s", "duration_s")


def stored_fields(mapping: Mapping) -> list[str]:
    """Fields of a `Record` beside the core that rows of this mapping have, in their order."""
    stored = [place for name, place in OPTIONAL.items() if mapping.has(name)]
    more = {
        "code": mapping.has("code"),
        "kind": mapping.has("kind"),
        "intent": bool(mapping.intent.fields),
        "state": bool(mapping.state.fields),
        "expires_ms": mapping.has("ttl_s"),
        "started": mapping.has("duration_s"),
        "part": True,
        "item": True,
    }
    return [*stored, *(name for name, is_there in more.items() if is_there and name not in stored)]


def wanted_fields(mapping: Mapping) -> dict[str, tuple[str, ...]]:
    """Name to the fields that may carry it; parts of the event, intent and state one by one."""
    names = [name for name in (*NEEDED, *SPECIAL, *OPTIONAL) if mapping.paths(name)]
    wanted = {name: mapping.paths(name) for name in names}
    if len(wanted.get("event", ())) > 1:
        for place, path in enumerate(wanted.pop("event")):
            wanted[f"event.{place}"] = (path,)
    for name, fields in (("intent", mapping.intent.fields), ("state", mapping.state.fields)):
        for place, path in enumerate(fields):
            wanted[f"{name}.{place}"] = (path,)
    return wanted


def absent(log: str, name: str, paths: Sequence[str], lines: int) -> UsageError:
    """The error for a field that no line of a log has."""
    fields = " or ".join(map(repr, paths))
    return UsageError(
        f"{log}: the mapping says that {name.partition('.')[0]} stands in the field {fields}, "
        f"but none of its {lines:,} lines has that field"
    )


class Names:
    """The mapping's events: names first, then patterns in their order.

    Attributes:
        known: Names that were asked for, to their places.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.known: dict[str, int | None] = {
            name: place for place, name in enumerate(names) if "*" not in name
        }
        self._patterns = [(name, place) for place, name in enumerate(names) if "*" in name]

    def find(self, name: str) -> int | None:
        """Its place, or None."""
        try:
            return self.known[name]
        except KeyError:
            place = next(
                (at for pattern, at in self._patterns if fnmatch.fnmatchcase(name, pattern)), None
            )
            if len(self.known) < NAMES_CACHED:
                self.known[name] = place
            return place


__all__ = ["NEEDED", "OPTIONAL", "SPECIAL", "Names", "absent", "stored_fields", "wanted_fields"]
