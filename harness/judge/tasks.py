"""What one worker is asked to do, and its answer, as JSON: the parts of both passes over a log."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..contract import UsageError
from .lines import Span
from .mapping import Mapping
from .scan import Scanned, scan
from .shard import Judged, ShardJudge, Terms
from .spill import shard_path


class Scan(msgspec.Struct, frozen=True, kw_only=True, tag="scan"):
    """Read a part of a log.

    Args:
        log: The log.
        mapping: What its fields are.
        span: Which part.
        folder: Where its shards go.
        shards: Into how many.
    """

    log: str
    mapping: Mapping
    span: Span
    folder: str
    shards: int

    def run(self) -> Scanned:
        """Do it."""
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        return scan(Path(self.log), self.mapping, self.span, folder, self.shards)


class Shard(msgspec.Struct, frozen=True, kw_only=True, tag="shard"):
    """Judge one shard.

    Args:
        log: The log.
        terms: What it is judged by.
        number: Which shard.
        parts: Folders that hold a part of it, and how many lines came before each.
        folder: Where its own files go.
    """

    log: str
    terms: Terms
    number: int
    parts: list[tuple[str, int]]
    folder: str

    def run(self) -> Judged:
        """Do it; the events to show are in `kept_events`."""
        paths = [(shard_path(Path(folder), self.number), before) for folder, before in self.parts]
        folder = Path(self.folder) / f"shard{self.number}"
        folder.mkdir(parents=True, exist_ok=True)
        judge = ShardJudge(Path(self.log), self.terms, folder)
        try:
            found = [(path, before) for path, before in paths if path.exists()]
            judged = judge.judge(found, kept_events(Path(self.folder), self.number))
        finally:
            judge.close()
        for path, _ in found:
            path.unlink()
        return judged


def kept_events(folder: Path, number: int) -> Path:
    """Where the events of a shard's contacts stand."""
    return folder / f"shard{number}" / "events.jsonl"


Task = Scan | Shard


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A task's answer: one of these.

    Args:
        scanned: Of a `Scan`.
        judged: Of a `Shard`.
        usage: The user's mistake.
        failed: Our own.
    """

    scanned: Scanned | None = None
    judged: Judged | None = None
    usage: str = ""
    failed: str = ""


def carry_out(task: Task) -> Done:
    """Do a task; the user's mistakes are part of the answer."""
    try:
        if isinstance(task, Scan):
            return Done(scanned=task.run())
        return Done(judged=task.run())
    except UsageError as error:
        return Done(usage=str(error))
    except OSError as error:
        return Done(usage=f"{error.filename or task.log!r}: {error.strerror or error}")


decode_task = msgspec.json.Decoder(Task).decode
decode_done = msgspec.json.Decoder(Done).decode
encode = msgspec.json.Encoder().encode

__all__ = ["Done", "Scan", "Shard", "Task", "carry_out", "decode_done", "decode_task", "encode"]
