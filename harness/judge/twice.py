"""Lines that a log holds twice, because what shipped it repeated itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from .doubt import Doubt
from .raw import RawLines
from .records import Record

IDS_KEPT = 500_000


class Twice:
    """Tells the second of two equal lines.

    Two lines are one if the log's own id says so, or if they are the same text. Same fields are not
    enough where the text can be looked at: two deliveries may differ in what is not mapped.

    Args:
        raw: Looks lines up.
        doubt: In which order records come.
        has_ids: Whether lines carry an id of their own.
        assumed: Where the lines left out are counted.
    """

    def __init__(
        self, raw: RawLines, doubt: Doubt, *, has_ids: bool, assumed: Counter[str]
    ) -> None:
        self._raw = raw
        self._doubt = doubt
        self._has_ids = has_ids
        self._assumed = assumed

    def without(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, in order, without those of lines that came before."""
        order, has_ids = self._doubt.order, self._has_ids
        ids: set[tuple[str, str]] = set()
        place: Any = None
        before: dict[tuple[Any, ...], Record] = {}
        previous: Record | None = None
        for record in records:
            if has_ids and record.record_id:
                name = (record.contact, record.record_id)
                if name in ids:
                    self._assumed["line twice"] += 1
                    continue
                if len(ids) >= IDS_KEPT:
                    ids.clear()
                ids.add(name)
                yield record
                continue
            here = order(record)
            if here != place or previous is None:
                place, previous = here, record
                before.clear()
            else:
                if not before:
                    before[_fields(previous)] = previous
                fields = _fields(record)
                first = before.setdefault(fields, record)
                if first is not record and self._same_text(first, record):
                    self._assumed["line twice"] += 1
                    continue
            yield record

    def _same_text(self, first: Record, second: Record) -> bool:
        if self._raw.packed:  # looking back in a packed file would cost more than it is worth
            return True
        if first.offset == second.offset or first.item != second.item:
            return False
        return self._raw.text(first.offset) == self._raw.text(second.offset)


def _fields(record: Record) -> tuple[Any, ...]:
    """All but where the line stands."""
    told = msgspec.structs.astuple(record)
    return (told[0], *told[3:-1], str(told[-1]))


__all__ = ["Twice"]
