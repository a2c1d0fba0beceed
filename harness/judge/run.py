"""Judges a log: two passes over it, in parts, in bounded memory."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..history import AnyEvent, History, decode
from ..outcome import RunOutcome
from .certain import is_holed, take_doubtful
from .fields import absent, wanted_fields
from .lines import GZIP_MAGIC, WHOLE, Span, open_log, split
from .mapping import Mapping
from .notices import assumptions
from .pool import Pool, jobs_for
from .scan import Scanned
from .shard import Judged, Terms
from .spill import shard_count
from .support import rules_for
from .tasks import Scan, Shard, kept_events
from .trace import Traced
from .verdict import Setting, outcome_of

SPAN_BYTES = 64 << 20
"""Size of the parts that a log is read in."""
PACKED_RATIO = 10
"""What a packed log may unpack to, for the number of shards."""
SEARCHED_BYTES = 16 << 20
EVENTS_KEPT = 200_000
"""Events that the report is made of, at most or little more."""
WHOLE_ROWS = 100_000
"""A log of no more rows is judged and shown whole."""

Progress = Callable[[str, float], None]
"""Is told what goes on and how far it is, from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a log came to.

    Args:
        outcome: As for every run.
        history: Events of the contacts with findings; of all, if the log is small.
        traced: Findings with the lines and the policy state behind them (spec: R3).
        judged: Which rules were judged.
        not_judged: Rule to why it was not.
    """

    outcome: RunOutcome
    history: History
    traced: tuple[Traced, ...]
    judged: tuple[str, ...]
    not_judged: dict[str, str]


def judge_log(
    path: Path,
    mapping: Mapping,
    *,
    folder: Path | None = None,
    jobs: int | None = None,
    progress: Progress = lambda *_: None,
    again: str = "",
) -> Answer:
    """Judge a log.

    Args:
        path: The log: JSON Lines or CSV, plain or gzip.
        mapping: What its fields are.
        folder: Where temporary files go; None for the system's place.
        jobs: How many workers; None for as many as are worth it.
        progress: Told how far it is.
        again: The command that judges it again.

    Raises:
        UsageError: The log or the mapping can't be used; one line says why.
    """
    started, began_s = datetime.now(UTC), time.monotonic()
    work = Path(tempfile.mkdtemp(prefix="leaserace-judge-", dir=folder))
    try:
        spans, log_bytes = _parts(path, mapping)
        shards = shard_count(log_bytes)
        with Pool(jobs_for(log_bytes) if jobs is None else jobs) as pool:
            scanned, parts = _scan(pool, path, mapping, spans, shards, work, progress)
            terms = _terms(mapping, scanned, shards)
            judged = _judge(pool, path, terms, parts, shards, work, progress)
        doubts = take_doubtful(judged) if is_holed(scanned) else []
        notices = (*assumptions(mapping, scanned, judged.assumed), *doubts)
        if judged.cut:
            told = f"{judged.cut:,} contacts with findings were left out of history.jsonl."
            notices = (*notices, told)
        outcome = outcome_of(
            judged,
            terms,
            Setting(
                name=path.name,
                again=again or shlex.join(["leaserace", "judge", str(path)]),
                started_at=started.isoformat(timespec="seconds"),
                elapsed_s=time.monotonic() - began_s,
                agents=sum(bool(agent) for agent in scanned.agents),
                notices=notices,
                broken_from=scanned.problems.first_line,
                lines=scanned.seen.lines,
                records=scanned.seen.rows,
            ),
        )
        rules, left = rules_for(terms.facts())
        return Answer(
            outcome=outcome,
            history=_history(work, shards),
            traced=tuple(judged.traced),
            judged=tuple(rule.name for rule in rules),
            not_judged=left,
        )
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _parts(path: Path, mapping: Mapping) -> tuple[list[Span], int]:
    """The parts a log can be read in, and its size in bytes."""
    open_log(path).close()
    size = path.stat().st_size
    with path.open("rb") as file:
        packed = file.read(2) == GZIP_MAGIC
    if packed:
        return [WHOLE], size * PACKED_RATIO
    is_csv = mapping.format == "csv" or (
        not mapping.format and path.name.lower().endswith((".csv", ".tsv"))
    )
    if is_csv or mapping.time.clock == "agent":
        return [WHOLE], size
    return split(path, max(1, -(-size // SPAN_BYTES))), size


def _scan(  # noqa: PLR0917 - a step of `judge_log`
    pool: Pool,
    path: Path,
    mapping: Mapping,
    spans: list[Span],
    shards: int,
    work: Path,
    progress: Progress,
) -> tuple[Scanned, list[tuple[str, int]]]:
    """The first pass; returns what was found, and where the rows are."""
    tasks = [
        Scan(
            log=str(path),
            mapping=mapping,
            span=span,
            folder=str(work / f"part{number}"),
            shards=shards,
        )
        for number, span in enumerate(spans)
    ]
    whole: Scanned | None = None
    parts: list[tuple[str, int]] = []
    for number, (task, done) in enumerate(zip(tasks, pool.run(tasks), strict=True), start=1):
        scanned = done.scanned
        assert scanned is not None
        parts.append((task.folder, whole.seen.lines if whole else 0))
        if whole is None:
            whole = scanned
        else:
            whole.merge(scanned)
        progress("reading", number / len(tasks))
    assert whole is not None
    _check_fields(path, mapping, whole)
    whole.problems.must_have(whole.seen.rows)
    return whole, parts


def _check_fields(path: Path, mapping: Mapping, scanned: Scanned) -> None:
    """Refuse a mapping that names fields no line has; null everywhere is not absent."""
    if mapping.lenient or not scanned.seen.fine:
        return
    wanted = wanted_fields(mapping)
    for name in scanned.absent:
        if not _is_named(path, wanted[name]):
            raise absent(path.name, name, wanted[name], scanned.seen.lines)


def _is_named(path: Path, fields: tuple[str, ...]) -> bool:
    """Whether any of the first lines has a field of this name, whatever its value."""
    names = [field.rpartition(".")[2].encode() for field in fields]
    with open_log(path) as file:
        data = file.read(SEARCHED_BYTES)
    return any(b'"' + name + b'"' in data for name in names)


def _terms(mapping: Mapping, scanned: Scanned, shards: int) -> Terms:
    lengths = scanned.lengths_ms
    told_s = mapping.settings.lease_s
    known = [*lengths, *([] if told_s is None else [round(told_s * 1000)])]
    return Terms(
        mapping=mapping,
        resolution_ns=scanned.seen.resolution_ns,
        offsets=scanned.offsets,
        lease_ms=max(known) if known else None,
        lease_varies=len(set(known)) > 1,
        identity=scanned.identity,
        last_ns=scanned.seen.last_ns,
        whole=scanned.seen.rows <= WHOLE_ROWS,
        events_kept=max(1_000, EVENTS_KEPT // shards),
    )


def _judge(  # noqa: PLR0917 - a step of `judge_log`
    pool: Pool,
    path: Path,
    terms: Terms,
    parts: list[tuple[str, int]],
    shards: int,
    work: Path,
    progress: Progress,
) -> Judged:
    """The second pass."""
    tasks = [
        Shard(log=str(path), terms=terms, number=number, parts=parts, folder=str(work))
        for number in range(shards)
    ]
    judged = Judged()
    for number, done in enumerate(pool.run(tasks), start=1):
        assert done.judged is not None
        judged.merge(done.judged)
        progress("judging", number / shards)
    return judged


def _history(work: Path, shards: int) -> History:
    """The events that were kept, in order of time."""
    files = [path for number in range(shards) if (path := kept_events(work, number)).exists()]
    events: list[AnyEvent] = []
    for path in files:
        with path.open("rb") as file:
            events.extend(decode(line) for line in file)
    # A contact's own events are in order, and stay in it: the sort is stable.
    events.sort(key=lambda event: event.t)
    return History(events)


__all__ = ["Answer", "Progress", "judge_log"]
