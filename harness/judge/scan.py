"""The first pass over a log, or over a part of it: read every line, split the rows by contact."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from .lines import Span
from .mapping import Mapping, Phase
from .problems import Left, Problems
from .read import Reader, Row
from .records import CORE
from .seen import Seen
from .skew import Offset, Skews
from .spill import Shards

LENGTHS_KEPT = 1_000
GRANTS_KEPT = 100_000
AGENTS_KEPT = 10_000
_EVENT, _CONTACT = CORE.index("event"), CORE.index("contact")


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
    """How long leases last, from grants that tell their end, or from later looks at the lease.

    Args:
        reader: Whose rows they are.
    """

    def __init__(self, reader: Reader) -> None:
        self._grants = [
            any(
                each.f in {"acquire", "renew"} and each.phase in {Phase.OK, Phase.WHOLE}
                for each in told
            )
            for told in reader.actions
        ]
        place, mapping = reader.place, reader.mapping
        self._code, self._token, self._ends, self._held, self._until = (
            place.get(name, -1)
            for name in ("code", "token", "expires_ms", "held_token", "held_until_ms")
        )
        self._begins = [place[name] for name in ("store_ms", "acquired_ms") if name in place]
        self._looks = mapping.has("held_token", "held_until")
        self._store_tells = mapping.time.clock == "store"
        self._last: dict[str, tuple[int, int]] = {}
        self.lengths_ms: Counter[int] = Counter()

    def note(self, rows: Sequence[Row]) -> None:
        """Rows came."""
        grants = self._grants
        if self._looks:
            for row in rows:
                if grants[row[_EVENT]]:
                    self._granted(row)
                else:
                    self._looked(row)
        elif self._ends >= 0:
            ends = self._ends
            for row in rows:
                if row[ends] is not None and grants[row[_EVENT]]:
                    self._granted(row)

    def _looked(self, row: Row) -> None:
        held, until_ms = row[self._held], row[self._until]
        token, at_ms = self._last.pop(row[_CONTACT], (None, 0))
        if token is not None and token == held and until_ms is not None:
            self._add(until_ms - at_ms)

    def _granted(self, row: Row) -> None:
        if self._code >= 0 and row[self._code] not in {None, "ok"}:
            return
        at_ms = next((row[at] for at in self._begins if row[at] is not None), None)
        if at_ms is None:
            if not self._store_tells:
                return
            at_ms = row[0] // 1_000_000
        ends_ms = row[self._ends] if self._ends >= 0 else None
        if ends_ms is not None:
            self._add(ends_ms - at_ms)
        elif self._looks and self._token >= 0 and row[self._token] is not None:
            if len(self._last) >= GRANTS_KEPT:
                self._last.clear()
            self._last[row[_CONTACT]] = (row[self._token], at_ms)

    def _add(self, length_ms: int) -> None:
        if length_ms > 0 and (length_ms in self.lengths_ms or len(self.lengths_ms) < LENGTHS_KEPT):
            self.lengths_ms[length_ms] += 1


class _Clocks:
    """Feeds `Skews` where each agent's own clock wrote the lines."""

    def __init__(self, reader: Reader) -> None:
        self._begins = [any(each.phase is Phase.BEGIN for each in told) for told in reader.actions]
        self._what = [told[0].f if told else "" for told in reader.actions]
        self._place = reader.place
        self.skews = Skews()

    def note(self, row: Row) -> None:
        """A row came."""
        place, event = self._place, row[_EVENT]
        told = {
            name: row[place[name]]
            for name in ("agent", "operation", "key", "store_ms")
            if name in place
        }
        call = (self._what[event], told.get("operation") or told.get("key") or row[_CONTACT])
        agent, store_ms = told.get("agent") or "", told.get("store_ms")
        if self._begins[event]:
            self.skews.begin(agent, call, row[0])
        elif store_ms is not None:
            self.skews.end(agent, call, row[0], store_ms * 1_000_000)


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
    lengths = Lengths(reader)
    clocks = _Clocks(reader) if mapping.time.clock == "agent" else None
    agents: set[str | None] = set()
    at_agent = reader.place.get("agent", -1)
    agent_of = operator.itemgetter(at_agent)
    for rows in reader.batches():
        files.add(rows)
        lengths.note(rows)
        if at_agent >= 0 and len(agents) < AGENTS_KEPT:
            agents.update(map(agent_of, rows))
        if clocks is not None:
            for row in rows:
                clocks.note(row)
    files.close()
    told_s = mapping.clocks
    skews = Skews() if clocks is None else clocks.skews
    return Scanned(
        seen=reader.seen,
        problems=reader.problems,
        left=reader.left,
        absent=list(reader.absent),
        lengths_ms=dict(lengths.lengths_ms),
        offsets=skews.offsets(told_s),
        agents=sorted(filter(None, agents))[:AGENTS_KEPT],
        identity=reader.identity,
        strange=reader.contacts.strange,
        strange_example=reader.contacts.example,
        no_zone=reader.zones.without,
        twice=reader.zones.twice,
        never=reader.zones.never,
    )


__all__ = ["Scanned", "scan"]
