"""The first pass over a log, or over a part of it: read every line, split the rows by contact."""

from __future__ import annotations

from pathlib import Path

import msgspec

from .lines import Span
from .mapping import Action, Mapping, Phase
from .problems import Left, Problems
from .read import Reader, Row
from .records import Record
from .seen import Seen
from .skew import Offset, Skews
from .spill import Shards

LENGTHS_KEPT = 1_000
GRANTS_KEPT = 100_000
AGENTS_KEPT = 10_000
_PLACE = {name: place for place, name in enumerate(Record.__struct_fields__)}
_T, _EVENT, _CONTACT, _AGENT = (_PLACE[name] for name in ("t", "event", "contact", "agent"))
_TOKEN, _STORE, _EXPIRES = (_PLACE[name] for name in ("token", "store_ms", "expires_ms"))
_ACQUIRED, _HELD, _UNTIL = (_PLACE[name] for name in ("acquired_ms", "held_token", "held_until_ms"))
_CODE, _OPERATION, _KEY = (_PLACE[name] for name in ("code", "operation", "key"))


class Scanned(msgspec.Struct, kw_only=True):
    """What the first pass found; parts of one log are merged in the order of the file.

    Args:
        seen, problems, left: Of the lines.
        absent: Mapped fields that no line had.
        lengths_ms: Length of a lease to how often it was granted, as far as the log tells.
        offsets: Agent to how far its clock was ahead.
        agents: Who acted, at most `AGENTS_KEPT`.
        identity: Name of the identity function.
        strange, strange_example: Recipients that are no address.
        no_zone, twice, never: Times without a zone; local times that exist twice, or never.
    """

    seen: Seen
    problems: Problems
    left: Left
    absent: list[str]
    lengths_ms: dict[int, int]
    offsets: dict[str, Offset]
    agents: list[str]
    identity: str
    strange: int = 0
    strange_example: str = ""
    no_zone: int = 0
    twice: int = 0
    never: int = 0

    def merge(self, other: Scanned) -> None:
        """Take in a later part of the file."""
        self.problems.merge(other.problems, self.seen.lines)
        self.seen.merge(other.seen)
        self.left.merge(other.left)
        self.absent = [name for name in self.absent if name in other.absent]
        for length_ms, count in other.lengths_ms.items():
            self.lengths_ms[length_ms] = self.lengths_ms.get(length_ms, 0) + count
        self.agents = sorted({*self.agents, *other.agents})[:AGENTS_KEPT]
        self.strange += other.strange
        self.strange_example = self.strange_example or other.strange_example
        self.no_zone += other.no_zone
        self.twice += other.twice
        self.never += other.never


class Lengths:
    """How long leases last, from grants that tell their end, or from later looks at the lease."""

    def __init__(self, actions: list[tuple[Action, ...]], mapping: Mapping) -> None:
        self._grants = [
            any(
                each.f in {"acquire", "renew"} and each.phase in {Phase.OK, Phase.WHOLE}
                for each in told
            )
            for told in actions
        ]
        self._looks = mapping.has("held_token", "held_until")
        self._store_tells = mapping.time.clock == "store"
        self._last: dict[str, tuple[int, int]] = {}
        self.lengths_ms: dict[int, int] = {}

    def note(self, row: Row) -> None:
        """A row came."""
        if self._grants[row[_EVENT]] and row[_CODE] in {"", "ok"}:
            self._granted(row)
        elif self._looks and row[_UNTIL] is not None:
            token, at_ms = self._last.pop(row[_CONTACT], (None, 0))
            if token is not None and token == row[_HELD]:
                self._add(row[_UNTIL] - at_ms)

    def _granted(self, row: Row) -> None:
        at_ms = row[_STORE] if row[_STORE] is not None else row[_ACQUIRED]
        if at_ms is None and self._store_tells:
            at_ms = row[_T] // 1_000_000
        if at_ms is None:
            return
        if row[_EXPIRES] is not None:
            self._add(row[_EXPIRES] - at_ms)
        elif self._looks and row[_TOKEN] is not None:
            if len(self._last) >= GRANTS_KEPT:
                self._last.clear()
            self._last[row[_CONTACT]] = (row[_TOKEN], at_ms)

    def _add(self, length_ms: int) -> None:
        if length_ms > 0 and (length_ms in self.lengths_ms or len(self.lengths_ms) < LENGTHS_KEPT):
            self.lengths_ms[length_ms] = self.lengths_ms.get(length_ms, 0) + 1


class _Clocks:
    """Feeds `Skews` where each agent's own clock wrote the lines."""

    def __init__(self, actions: list[tuple[Action, ...]]) -> None:
        self._begins = [any(each.phase is Phase.BEGIN for each in told) for told in actions]
        self._what = [told[0].f if told else "" for told in actions]
        self.skews = Skews()

    def note(self, row: Row) -> None:
        """A row came."""
        event = row[_EVENT]
        call = (self._what[event], row[_OPERATION] or row[_KEY] or row[_CONTACT])
        if self._begins[event]:
            self.skews.begin(row[_AGENT], call, row[_T])
        elif row[_STORE] is not None:
            self.skews.end(row[_AGENT], call, row[_T], row[_STORE] * 1_000_000)


def scan(path: Path, mapping: Mapping, span: Span, folder: Path, shards: int) -> Scanned:
    """Read a log, or a part of it, and split its rows.

    Args:
        path: The log.
        mapping: What its fields are.
        span: Which part.
        folder: Where the shards go; it must exist.
        shards: Into how many.

    Raises:
        UsageError: The file can't be read, or the mapping names what is not there.
    """
    reader = Reader(path, mapping, span)
    files = Shards(folder, shards)
    lengths = Lengths(reader.actions, mapping)
    clocks = _Clocks(reader.actions) if mapping.time.clock == "agent" else None
    add, note = files.add, lengths.note
    tells_leases = mapping.does("acquire") or mapping.does("renew")
    agents: set[str] = set()
    for row in reader.rows():
        add(row)
        if row[_AGENT] not in agents and len(agents) < AGENTS_KEPT:
            agents.add(row[_AGENT])
        if tells_leases:
            note(row)
        if clocks is not None:
            clocks.note(row)
    files.close()
    told_s = mapping.clocks
    skews = Skews() if clocks is None else clocks.skews
    return Scanned(
        seen=reader.seen,
        problems=reader.problems,
        left=reader.left,
        absent=list(reader.absent),
        lengths_ms=lengths.lengths_ms,
        offsets=skews.offsets(told_s),
        agents=sorted(agents),
        identity=reader.identity,
        strange=reader.contacts.strange,
        strange_example=reader.contacts.example,
        no_zone=reader.zones.without,
        twice=reader.zones.twice,
        never=reader.zones.never,
    )


__all__ = ["Scanned", "scan"]
