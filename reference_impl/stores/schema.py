"""The SQL tables, and how a row becomes columns and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ..records import (
    TABLES,
    AnyRow,
    BudgetRow,
    CancelRow,
    ConflictRow,
    FenceRow,
    HaltRow,
    InboundRow,
    LeaseRow,
    OptOutRow,
    OverrideRow,
    Row,
    SendRow,
    SentRow,
    StepRow,
    SuppressionRow,
    TimelineRow,
    TrafficRow,
)

SCHEMA = """
CREATE TABLE IF NOT EXISTS fence (
    key TEXT PRIMARY KEY,
    token INTEGER NOT NULL CHECK (token >= 1)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lease (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    token INTEGER NOT NULL,
    acquired_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    length_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS send (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    contact TEXT NOT NULL,
    agent TEXT NOT NULL,
    token INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    state TEXT NOT NULL,
    authorized_at_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    settled_at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS timeline (
    key TEXT PRIMARY KEY,
    entries TEXT NOT NULL -- JSON, oldest first
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS suppression (
    key TEXT PRIMARY KEY,
    causes TEXT NOT NULL, -- JSON
    cleared_at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS override (
    key TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS conflict (
    key TEXT PRIMARY KEY,
    token INTEGER NOT NULL,
    count INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inbound (
    key TEXT PRIMARY KEY,
    contact TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS opt_out (
    key TEXT PRIMARY KEY,
    contact TEXT NOT NULL,
    until_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cancel (
    key TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS traffic (
    key TEXT PRIMARY KEY,
    buckets TEXT NOT NULL -- JSON, oldest first
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halt (
    key TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS budget (
    key TEXT PRIMARY KEY,
    spent TEXT NOT NULL, -- JSON, oldest first
    approved INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sent (
    key TEXT PRIMARY KEY,
    message_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS step (
    key TEXT PRIMARY KEY,
    step TEXT NOT NULL,
    about TEXT NOT NULL,
    result TEXT NOT NULL, -- JSON
    number INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL,
    event TEXT NOT NULL,
    key TEXT NOT NULL,
    decision TEXT NOT NULL,
    record TEXT NOT NULL -- the whole record, JSON
);
CREATE TRIGGER IF NOT EXISTS audit_keeps_what_was_written BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS audit_keeps_all BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
"""

NAMES: Mapping[type[Row], str] = {
    FenceRow: "fence",
    LeaseRow: "lease",
    SendRow: "send",
    TimelineRow: "timeline",
    SuppressionRow: "suppression",
    OverrideRow: "override",
    ConflictRow: "conflict",
    InboundRow: "inbound",
    OptOutRow: "opt_out",
    CancelRow: "cancel",
    TrafficRow: "traffic",
    HaltRow: "halt",
    BudgetRow: "budget",
    SentRow: "sent",
    StepRow: "step",
}
COLUMNS: Mapping[type[Row], tuple[str, ...]] = {
    kind: tuple(each.name for each in msgspec.structs.fields(kind)) for kind in TABLES
}
JSON_COLUMNS = frozenset({"entries", "causes", "buckets", "spent"})


class Statements(NamedTuple):
    """The four statements of one table."""

    get: str
    put: str
    delete: str
    rows: str


def _statements(kind: type[Row]) -> Statements:
    # Names come from this module alone; every value is a parameter.
    table, columns = NAMES[kind], COLUMNS[kind]
    listed = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    return Statements(
        get=f"SELECT {listed} FROM {table} WHERE key = ?",  # noqa: S608
        put=f"INSERT OR REPLACE INTO {table} ({listed}) VALUES ({marks})",  # noqa: S608
        delete=f"DELETE FROM {table} WHERE key = ?",  # noqa: S608
        rows=f"SELECT {listed} FROM {table} WHERE key > ? ORDER BY key LIMIT ?",  # noqa: S608
    )


_STATEMENTS = {kind: _statements(kind) for kind in TABLES}


def sql(kind: type[Row]) -> Statements:
    """The statements of this row type's table."""
    return _STATEMENTS[kind]


def to_columns(row: Row) -> tuple[Any, ...]:
    """The row's values in the order of its table's columns."""
    return tuple(
        msgspec.json.encode(value).decode() if name in JSON_COLUMNS else value
        for name, value in zip(COLUMNS[type(row)], msgspec.structs.astuple(row), strict=True)
    )


def from_columns(kind: type[AnyRow], values: tuple[Any, ...]) -> AnyRow:
    """The row these columns hold."""
    fields = {
        name: msgspec.json.decode(value) if name in JSON_COLUMNS else value
        for name, value in zip(COLUMNS[kind], values, strict=True)
    }
    return msgspec.convert(fields, kind)
