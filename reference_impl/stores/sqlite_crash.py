"""A crash of the SQLite store: whoever writes is killed in mid-transaction.

SQLite has no server; what can crash is the process that writes. So one is started that holds the lock,
has removed every row and written so much that the file has seen it, and is then killed. Nothing of it
may be seen by anybody afterwards, and the lock is free.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .schema import NAMES

WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=0.5, isolation_level=None)
db.execute("PRAGMA cache_size=4")
db.execute("BEGIN IMMEDIATE")
for table in sys.argv[2:]:
    db.execute(f"DELETE FROM {table}")
db.execute("CREATE TABLE half AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
           " WHERE i < 2000) SELECT i, hex(randomblob(100)) AS junk FROM n")
print("writing", flush=True)
sys.stdin.read()
"""
"""Stands in the middle of its transaction until it is killed."""


def crash_writer(path: Path) -> bool:
    """Kill a process in the middle of a transaction on this file.

    Returns:
        False if another transaction held the store for so long that none was begun.
    """
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", "-c", WRITER, str(path), *sorted(NAMES.values())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as writer:
        assert writer.stdout is not None
        began = bool(writer.stdout.readline())
        writer.kill()
    return began
