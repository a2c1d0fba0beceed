"""Checks a contact list before anything is automated, of any size (spec: I5).

Who collapses into one contact and by which rule, who only looks alike, who is no address and why, and
which domains are likely one. Rows are split by a hash into files that are grouped one at a time, so a
list of gigabytes needs the memory of a part.
"""

from __future__ import annotations

import csv
import itertools
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import msgspec

from .judge.identity import KeyOf
from .spellings import reasons, shape

PART_BYTES = 16 << 20
PARTS_MAX = 256
BATCH = 256
CLUSTERS_SHOWN = 200
DOMAINS_OF_ONE_NAME = 12
"""A name found at more domains than this is nobody's: it says nothing of aliases."""
PAIRS_MAX = 500_000
ALIAS_NAMES = 3
"""Names that two domains must share before they may be one."""
ALIAS_SHARE = 0.5
ROLES = frozenset(
    [
        "info",
        "sales",
        "support",
        "admin",
        "office",
        "contact",
        "hello",
        "mail",
        "team",
        "hr",
        "jobs",
        "billing",
        "accounts",
        "service",
        "help",
        "webmaster",
        "postmaster",
        "abuse",
        "noreply",
        "no-reply",
        "marketing",
        "press",
    ]
)
"""Names that every domain has."""
COLUMNS = ("line", "address", "contact", "what", "rule", "group")

Row = tuple[int, str, str]
"""Line, address, key."""


class Cluster(msgspec.Struct, kw_only=True):
    """Several rows that are one contact, or several contacts that look alike.

    Args:
        name: The key, or the shape they share.
        rows: How many rows.
        spellings: Spellings, or keys, at most a few.
        rules: By which rules they became one.
    """

    name: str
    rows: int
    spellings: list[str]
    rules: list[str] = []


class Summary(msgspec.Struct, kw_only=True):
    """What a list holds.

    Args:
        rows: Rows with something in them.
        contacts: Different persons.
        collapsed: Rows beyond the first of their contact.
        by_rule: Rule to how many rows it made one with another.
        clusters: The largest contacts with several rows.
        alike_groups, alike_contacts: Groups that only look alike, and how many contacts are in them.
        alike: The largest of them.
        no_address: How many rows are no address; `why` tells the commonest reasons.
        aliases: Domains that are likely one: alias, canonical, names they share.
        notices: What a reader must know.
    """

    rows: int = 0
    contacts: int = 0
    collapsed: int = 0
    by_rule: dict[str, int] = {}
    clusters: list[Cluster] = []
    alike_groups: int = 0
    alike_contacts: int = 0
    alike: list[Cluster] = []
    no_address: int = 0
    why: dict[str, int] = {}
    aliases: list[tuple[str, str, int]] = []
    notices: list[str] = []


class Parts:
    """Files of rows, split by a hash of one of their fields.

    Args:
        folder: Where they are made.
        name: What they are called.
        count: How many.
        by: Which field of a row.
    """

    def __init__(self, folder: Path, name: str, count: int, by: int) -> None:
        self._paths = [folder / f"{name}{number}" for number in range(count)]
        self._by = by
        self._waiting: list[list[Any]] = [[] for _ in range(count)]
        self._files: dict[int, BinaryIO] = {}
        self._encode = msgspec.msgpack.Encoder().encode

    def add(self, row: Sequence[Any]) -> None:
        """Put a row where those with the same value are."""
        value = row[self._by].encode("utf-8", "surrogatepass")
        number = zlib.crc32(value) % len(self._paths)
        waiting = self._waiting[number]
        waiting.append(row)
        if len(waiting) >= BATCH:
            self._write(number)

    def _write(self, number: int) -> None:
        if number not in self._files:
            self._files[number] = self._paths[number].open("wb")
        data = self._encode(self._waiting[number])
        self._files[number].write(len(data).to_bytes(4, "little") + data)
        self._waiting[number] = []

    def groups(self) -> Iterator[tuple[str, list[Any]]]:
        """Rows that have the same value, a part at a time; each part is removed once it was read."""
        for number, waiting in enumerate(self._waiting):
            if waiting:
                self._write(number)
        for number, file in sorted(self._files.items()):
            file.close()
            by_value: dict[str, list[Any]] = {}
            with self._paths[number].open("rb") as source:
                while head := source.read(4):
                    batch = msgspec.msgpack.decode(source.read(int.from_bytes(head, "little")))
                    for row in batch:
                        by_value.setdefault(row[self._by], []).append(row)
            self._paths[number].unlink()
            yield from by_value.items()


class Check:
    """Goes over a list and writes what there is to say of its rows.

    Args:
        key_of: The identity function.
        out: Where rows go as CSV, under `COLUMNS`.
        folder: Where temporary files go; it must exist.
        list_bytes: Size of the list.
    """

    def __init__(self, key_of: KeyOf, out: TextIO, folder: Path, list_bytes: int) -> None:
        parts = max(1, min(PARTS_MAX, list_bytes // PART_BYTES + 1))
        self._key_of = key_of
        self._writer = csv.writer(out)
        self._writer.writerow(COLUMNS)
        self._rows = Parts(folder, "rows", parts, by=2)
        self._shapes = Parts(folder, "shapes", parts, by=0)
        self._names = Parts(folder, "names", parts, by=0)
        self._domains: Counter[str] = Counter()
        self.summary = Summary()

    def run(
        self, rows: Iterable[tuple[int, str]], progress: Callable[[int], None] = lambda _: None
    ) -> Summary:
        """Check all rows.

        Args:
            rows: Line numbers and addresses.
            progress: Told how many rows were read.
        """
        summary = self.summary
        why: Counter[str] = Counter()
        for number, address in rows:
            summary.rows += 1
            try:
                self._rows.add((number, address, self._key_of(address)))
            except ValueError as error:
                summary.no_address += 1
                self._write(number, address, "", "no address", str(error), "")
                why[_kind(str(error), address)] += 1
            if not summary.rows % 10_000:
                progress(summary.rows)
        summary.why = dict(why.most_common(10))
        self._contacts()
        self._alike()
        self._aliases()
        return summary

    def _write(self, *values: Any) -> None:
        self._writer.writerow([_safe(str(value)) for value in values])

    def _contacts(self) -> None:
        """Rows of one contact together; each contact goes on to be compared with others."""
        summary = self.summary
        by_rule: Counter[str] = Counter()
        clusters: list[Cluster] = []
        for key, rows in self._rows.groups():
            summary.contacts += 1
            local, _, domain = key.rpartition("@")
            self._shapes.add((shape(key), key))
            self._domains[domain] += 1
            if local not in ROLES:
                self._names.add((local, domain))
            if len(rows) > 1:
                summary.collapsed += len(rows) - 1
                clusters.append(self._cluster(key, rows, by_rule))
                if len(clusters) > 2 * CLUSTERS_SHOWN:
                    clusters = _largest(clusters)
        summary.by_rule = dict(by_rule.most_common())
        summary.clusters = _largest(clusters)

    def _cluster(self, key: str, rows: list[Row], by_rule: Counter[str]) -> Cluster:
        rules: dict[str, None] = {}
        seen: set[str] = set()
        for number, address, _ in sorted(rows):
            mine = ("same spelling",) if address in seen else reasons(address, key)
            seen.add(address)
            self._write(number, address, key, "same contact", " and ".join(mine), key)
            by_rule.update(mine)
            rules.update(dict.fromkeys(mine))
        spellings = list(dict.fromkeys(address for _, address, _ in sorted(rows)))
        return Cluster(name=key, rows=len(rows), spellings=spellings[:10], rules=list(rules))

    def _alike(self) -> None:
        summary = self.summary
        groups: list[Cluster] = []
        for look, rows in self._shapes.groups():
            if len(rows) < 2:
                continue
            keys = sorted(key for _, key in rows)
            summary.alike_groups += 1
            summary.alike_contacts += len(keys)
            for key in keys:
                self._write("", key, key, "only looks alike", "", look)
            groups.append(Cluster(name=look, rows=len(keys), spellings=keys[:10]))
            if len(groups) > 2 * CLUSTERS_SHOWN:
                groups = _largest(groups)
        summary.alike = _largest(groups)

    def _aliases(self) -> None:
        """Domains that share so many names that they are likely one."""
        shared: Counter[tuple[str, str]] = Counter()
        for _, rows in self._names.groups():
            domains = sorted({domain for _, domain in rows})
            if 2 <= len(domains) <= DOMAINS_OF_ONE_NAME:
                shared.update(itertools.combinations(domains, 2))
            if len(shared) > PAIRS_MAX:
                shared = Counter({pair: count for pair, count in shared.items() if count > 1})
                self.summary.notices[:] = [
                    "Pairs of domains that share one name only were not all kept."
                ]
        found = []
        for (one, two), count in shared.items():
            small, large = sorted((one, two), key=lambda domain: (self._domains[domain], domain))
            if count >= ALIAS_NAMES and count >= ALIAS_SHARE * self._domains[small]:
                found.append((small, large, count))
        self.summary.aliases = sorted(found, key=lambda each: (-each[2], each))[:50]


def _largest(clusters: list[Cluster]) -> list[Cluster]:
    return sorted(clusters, key=lambda each: (-each.rows, each.name))[:CLUSTERS_SHOWN]


def _kind(reason: str, address: str) -> str:
    """A reason without the address it is about."""
    return reason.replace(repr(address), "").replace(address, "").strip(" :")[:200]


def _safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula, without control characters."""
    plain = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    return f"'{plain}" if plain[:1] in {"=", "+", "@", "-"} else plain


__all__ = ["COLUMNS", "Check", "Cluster", "Summary"]
