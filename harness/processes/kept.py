"""What an agent's process has written down: a file that its next incarnation reads again."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path

import msgspec


class Kept(MutableMapping[str, str]):
    """Names and texts in a file of the agent's; written at once, so that a SIGKILL loses nothing.

    Args:
        path: The file; it need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[str, str] = {}
        if path.exists():
            self._values = msgspec.json.decode(path.read_bytes(), type=dict[str, str])

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __setitem__(self, name: str, text: str) -> None:
        self._values[name] = text
        self._write()

    def __delitem__(self, name: str) -> None:
        del self._values[name]
        self._write()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _write(self) -> None:
        fresh = self._path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(msgspec.json.encode(self._values))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
