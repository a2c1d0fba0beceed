"""Small targets for the process engine's tests: one that works, on SQLite, and some that misbehave."""

from __future__ import annotations

import os
import smtplib
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from leaserace.harness import (
    AgentContext,
    AuditRecord,
    Capability,
    Code,
    Environment,
    Found,
    Lease,
    Message,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
    Target,
    UsageError,
    point,
)
from leaserace.harness.clocks import HostClock, SystemClock
from leaserace.harness.contract import INTENT_HEADER

TABLES = """
CREATE TABLE lease (key TEXT PRIMARY KEY, owner TEXT, token INT, acquired INT, expires INT);
CREATE TABLE sent (key TEXT PRIMARY KEY, id TEXT);
CREATE TABLE audit (seq INTEGER PRIMARY KEY, at INT, actor TEXT, event TEXT, key TEXT, decision TEXT);
"""


def now_ms() -> int:
    return int(
        sqlite3.connect(":memory:")
        .execute("SELECT (julianday('now') - 2440587.5) * 86400000")
        .fetchone()[0]
    )


class ToyMailbox:
    def __init__(self, agent: AgentContext) -> None:
        self._agent = agent
        self._db = sqlite3.connect(agent.env.facts["db"], timeout=5.0, isolation_level=None)

    def _decide(self, event: str, key: str, decision: str) -> None:
        self._db.execute(
            "INSERT INTO audit (at, actor, event, key, decision) VALUES (?, ?, ?, ?, ?)",
            (now_ms(), self._agent.id, event, key, decision),
        )

    def acquire(self, address: str) -> Lease | Refused:
        key = address.lower()
        self._db.execute("BEGIN IMMEDIATE")
        point("acquire.read", key)
        now = now_ms()
        row = self._db.execute("SELECT * FROM lease WHERE key = ?", (key,)).fetchone()
        if row and row[4] > now:
            self._db.execute("COMMIT")
            return Refused(code=Code.CONTACT_OWNED, owner=row[1], expires_at_ms=row[4])
        token = row[2] + 1 if row else 1
        expires = now + int(self._agent.env.settings.lease_s * 1000)
        self._db.execute(
            "REPLACE INTO lease VALUES (?, ?, ?, ?, ?)", (key, self._agent.id, token, now, expires)
        )
        self._decide("acquire", key, "granted")
        self._db.execute("COMMIT")
        return self._lease(key)

    def _lease(self, key: str) -> Lease:
        row = self._db.execute("SELECT * FROM lease WHERE key = ?", (key,)).fetchone()
        return Lease(
            key=key,
            owner=row[1],
            token=row[2],
            acquired_at_ms=row[3],
            expires_at_ms=row[4],
            granted_at_ms=row[3],
        )

    def renew(self, address: str, token: int) -> Lease | Refused:
        return self._lease(address.lower())

    def release(self, address: str, token: int) -> Released | Refused:
        self._db.execute(
            "UPDATE lease SET expires = 0 WHERE key = ? AND token = ?", (address.lower(), token)
        )
        return Released(key=address.lower(), token=token)

    def send(self, message: Message) -> Sent | Refused:
        key = message.key or ""
        point("send.checked", message.to)
        self._db.execute("BEGIN IMMEDIATE")
        row = self._db.execute("SELECT id FROM sent WHERE key = ?", (key,)).fetchone()
        if row:
            self._db.execute("COMMIT")
            return Sent(message_id=row[0], replay=True)
        message_id = f"<{message.intent}@toy.example>"
        self._db.execute("INSERT INTO sent VALUES (?, ?)", (key, message_id))
        self._db.execute("COMMIT")
        point("send.dispatching", message.to)
        try:
            self._hand_over(message, message_id)
        except (smtplib.SMTPServerDisconnected, TimeoutError):
            return Refused(code=Code.SEND_STATUS_UNKNOWN, message_id=message_id)
        except smtplib.SMTPRecipientsRefused:
            return Refused(code=Code.INVALID_MESSAGE)
        point("send.handed_over", message.to)
        return Sent(message_id=message_id)

    def _hand_over(self, message: Message, message_id: str) -> None:
        text = (
            f"Message-ID: {message_id}\r\n{INTENT_HEADER}: {message.intent}\r\nTo: {message.to}\r\n"
            f"Subject: {message.subject}\r\n\r\n{message.body}"
        )
        host, port = self._agent.env.smtp
        timeout_s = self._agent.env.settings.transport_timeout_s
        with smtplib.SMTP(host, port, local_hostname="toy.example", timeout=timeout_s) as client:
            client.sendmail(f"{self._agent.id}@toy.example", [message.to], text.encode())

    def lookup(self, key: str) -> Found | Refused:
        row = self._db.execute("SELECT id FROM sent WHERE key = ?", (key,)).fetchone()
        if row is None:
            return Found(state=SendState.ABSENT)
        return Found(state=SendState.DELIVERED, message_id=row[0])

    def suppress(self, address: str, reason: str) -> Noted | Refused:
        return Noted(at_ms=int(self._agent.clock.now_ms()))

    def unsuppress(self, address: str, person: str) -> Noted | Refused:
        return Noted(at_ms=int(time.time() * 1000))

    def override(self, address: str, person: str, reason: str) -> Noted | Refused:
        return Noted(at_ms=now_ms())

    def close(self) -> None:
        self._db.close()


class Toy(Target):
    capabilities = frozenset(Capability)
    points = frozenset({"acquire.read", "send.checked", "send.dispatching", "send.handed_over"})

    def start(self, env: Environment) -> Mapping[str, Any] | None:
        self._path = str(env.workdir / "toy.db")
        db = sqlite3.connect(self._path)
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(TABLES)
        db.close()
        return {"db": self._path}

    def connect(self, agent: AgentContext) -> ToyMailbox:
        return ToyMailbox(agent)

    def audit(self) -> Iterable[AuditRecord]:
        db = sqlite3.connect(self._path)
        names = ("seq", "at_ms", "actor", "event", "key", "decision")
        for row in db.execute("SELECT * FROM audit ORDER BY seq").fetchall():
            yield AuditRecord(**dict(zip(names, row, strict=True)))
        db.close()

    def now_ms(self) -> int | None:
        return now_ms()


class NoClock(Toy):
    def now_ms(self) -> int | None:
        return None


class NoAudit(Toy):
    capabilities = frozenset(Capability) - {Capability.AUDIT}


class LongLeases(Toy):
    def __init__(self) -> None:
        self.fixed = {"lease_s": 0.3, "cooldown_s": 5.0}


class RaisesInStart(Toy):
    def start(self, env: Environment) -> Mapping[str, Any] | None:
        raise RuntimeError("no database here")


class RefusesItsPolicy(Toy):
    def start(self, env: Environment) -> Mapping[str, Any] | None:
        raise UsageError("policy lease_s=-1: give a length above 0")


class ReturnsNoJson(Toy):
    def start(self, env: Environment) -> Mapping[str, Any] | None:
        return {"db": object()}


class RaisesInConnect(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        raise ConnectionError("nobody listens at 127.0.0.1:1")


class HangsInStart(Toy):
    def start(self, env: Environment) -> Mapping[str, Any] | None:
        time.sleep(3600)
        return None


class HangsInConnect(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        time.sleep(3600)
        return ToyMailbox(agent)


class _Raising(ToyMailbox):
    def acquire(self, address: str) -> Lease | Refused:
        raise ValueError("mid-call")


class _Hanging(ToyMailbox):
    def acquire(self, address: str) -> Lease | Refused:
        time.sleep(3600)
        raise AssertionError


class _Dying(ToyMailbox):
    def acquire(self, address: str) -> Lease | Refused:
        os._exit(7)


class RaisesMidCall(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        return _Raising(agent)


class HangsMidCall(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        return _Hanging(agent)


class DiesMidCall(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        return _Dying(agent)


class HangsInStop(Toy):
    def stop(self) -> None:
        time.sleep(3600)


class RaisesInAudit(Toy):
    def audit(self) -> Iterable[AuditRecord]:
        raise RuntimeError("the log is gone")


class SaysSentOnly(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        return _SaysSentOnly(agent)


class _SaysSentOnly(ToyMailbox):
    def _hand_over(self, message: Message, message_id: str) -> None:
        return


class HangsInClose(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        return _HangingAtTheEnd(agent)


class _HangingAtTheEnd(ToyMailbox):
    def close(self) -> None:
        time.sleep(3600)


class RaisesInStop(Toy):
    def stop(self) -> None:
        raise RuntimeError("it is still in use")


class AuditsNonsense(Toy):
    def audit(self) -> Iterable[AuditRecord]:
        return [{"decision": "granted"}]  # type: ignore[list-item]


class FixesNoLength(Toy):
    def __init__(self) -> None:
        self.fixed = {"patience_s": 1.0}


class NoSuchCapability(Toy):
    capabilities = frozenset({"telepathy"})  # type: ignore[arg-type]


class LeavesAProcess(Toy):
    def start(self, env: Environment) -> Mapping[str, Any] | None:
        subprocess.Popen(["sleep", "3600"])
        return super().start(env)


class HangsInNowMs(Toy):
    def now_ms(self) -> int | None:
        time.sleep(3600)
        return None


class ClockOfText(Toy):
    def now_ms(self) -> int | None:
        return "noon"  # type: ignore[return-value]


class ClockOfNothing(Toy):
    def now_ms(self) -> int | None:
        return float("nan")  # type: ignore[return-value]


class HidesFromSkew(Toy):
    """Its agents' clocks are read where no skew reaches them."""

    def connect(self, agent: AgentContext) -> ToyMailbox:
        HostClock.now_ms = SystemClock.now_ms  # type: ignore[method-assign, assignment]
        return ToyMailbox(agent)


class Snoop(Target):
    """A target that tells what its process looks like."""

    capabilities = frozenset({Capability.LEASE})

    def connect(self, agent: AgentContext) -> SnoopMailbox:
        return SnoopMailbox(agent)


class SnoopMailbox(ToyMailbox):
    def __init__(self, agent: AgentContext) -> None:
        self._agent = agent

    def acquire(self, address: str) -> Lease | Refused:
        return Refused(code=Code.INVALID_ADDRESS, detail=str(self._seen(address)))

    def _seen(self, what: str) -> object:
        match what:
            case "modules":
                return " ".join(sys.modules)
            case "main":
                return getattr(sys.modules["__main__"], "__file__", None)
            case "cwd":
                return Path.cwd()
            case "path":
                return os.pathsep.join(sys.path)
            case "print":
                print("printed", flush=True)  # noqa: T201
                return ""
            case name:
                return os.environ.get(name)

    def close(self) -> None:
        return


class SaysWhenStopped(Toy):
    """It writes down each time it is stopped."""

    def start(self, env: Environment) -> Mapping[str, Any] | None:
        self._note = env.workdir / "stopped"
        return super().start(env)

    def stop(self) -> None:
        with self._note.open("a") as note:
            note.write("stopped\n")


class StopsThoughConnectRaises(SaysWhenStopped):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        raise ConnectionError("not today")


class ConnectsOnce(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        if agent.incarnation:
            raise ConnectionError("one connection an agent")
        return ToyMailbox(agent)


class HostDies(Toy):
    def now_ms(self) -> int | None:
        os._exit(9)


class Threaded(Toy):
    """Its calls run in a thread of their own, and another thread passes points all the time."""

    def connect(self, agent: AgentContext) -> ToyMailbox:
        threading.Thread(target=_pass_points, daemon=True).start()
        return _Threaded(agent)


def _pass_points() -> None:
    while True:
        point("background")
        time.sleep(0.001)


class _Threaded(ToyMailbox):
    def acquire(self, address: str) -> Lease | Refused:
        answers: list[Lease | Refused] = []
        own = ToyMailbox(self._agent)

        def work() -> None:
            own._db = sqlite3.connect(self._agent.env.facts["db"], isolation_level=None)
            answers.append(own.acquire(address))
            own.close()

        own.close()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return answers[0]
