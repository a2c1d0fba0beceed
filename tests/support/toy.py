"""A mailbox of one page: leases, a fence and keys in one dictionary, for tests of the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from leaserace.harness.contract import (
    AgentContext,
    Capability,
    Code,
    Environment,
    Found,
    Lease,
    Message,
    NoAnswer,
    Noted,
    Outgoing,
    Refused,
    Rejected,
    Released,
    SendState,
    Sent,
    Target,
)
from leaserace.harness.points import Section, point


class ToyTarget(Target):
    """A correct toy; `broken` takes one safeguard away.

    Args:
        broken: ``fence``, ``expiry``, ``two steps`` (acquire reads and writes in two sections),
            ``no key``, ``off by one`` (a lease ends a millisecond early) or "".
    """

    capabilities = frozenset(
        {
            Capability.LEASE,
            Capability.FENCING,
            Capability.SEND,
            Capability.IDEMPOTENCY,
            Capability.LOOKUP,
        }
    )
    points = frozenset({"acquire.read", "send.checked", "send.dispatching", "send.handed_over"})

    def __init__(self, broken: str = "") -> None:
        self.broken = broken

    def start(self, env: Environment) -> None:
        self.env = env
        self.section = Section("store")
        self.leases: dict[str, tuple[str, int, int, int]] = {}
        self.sends: dict[str, tuple[str, str]] = {}

    def connect(self, agent: AgentContext) -> ToyMailbox:
        return ToyMailbox(self, agent.id)

    def content(self) -> object:
        """Content of the store, for visited states."""
        return tuple(self.leases.items()), tuple(self.sends.items())

    def now_ms(self) -> int:
        assert self.env.clock is not None
        return self.env.clock.now_ms()


class _BusyError(Exception):
    pass


class ToyMailbox:
    def __init__(self, target: ToyTarget, agent: str) -> None:
        self._target = target
        self._agent = agent

    @contextmanager
    def _store(self) -> Iterator[None]:
        with self._target.section.held(self._target.env.settings.store_deadline_s) as had:
            if not had:
                raise _BusyError
            yield

    def acquire(self, address: str) -> Lease | Refused:
        key = address.lower()
        try:
            with self._store():
                row = self._target.leases.get(key)
                if self._target.broken != "two steps":
                    point("acquire.read", key)
                    return self._grant(key, row)
            point("acquire.read", key)
            with self._store():
                return self._grant(key, row)
        except _BusyError:
            return Refused(code=Code.STORE_BUSY, retry_after_s=0.1)

    def _grant(self, key: str, row: tuple[str, int, int, int] | None) -> Lease | Refused:
        now_ms = self._target.now_ms()
        owner, token, _, expires_at_ms = row or ("", 0, 0, 0)
        early_ms = 1 if self._target.broken == "off by one" else 0
        if expires_at_ms - early_ms > now_ms:
            return Refused(code=Code.CONTACT_OWNED, owner=owner, expires_at_ms=expires_at_ms)
        until_ms = now_ms + round(self._target.env.settings.lease_s * 1000)
        self._target.leases[key] = (self._agent, token + 1, now_ms, until_ms)
        return Lease(
            key=key,
            owner=self._agent,
            token=token + 1,
            acquired_at_ms=now_ms,
            expires_at_ms=until_ms,
            granted_at_ms=now_ms,
        )

    def renew(self, address: str, token: int) -> Lease | Refused:
        raise NotImplementedError

    def release(self, address: str, token: int) -> Released | Refused:
        key = address.lower()
        with self._store():
            row = self._target.leases.get(key)
            if row is None or row[:2] != (self._agent, token) or row[3] <= self._target.now_ms():
                return Refused(code=Code.NOT_HOLDER)
            self._target.leases[key] = (*row[:3], self._target.now_ms())
            return Released(key=key, token=token)

    def send(self, message: Message) -> Sent | Refused:
        try:
            return self._send(message)
        except _BusyError:
            return Refused(code=Code.STORE_BUSY, retry_after_s=0.1)

    def _send(self, message: Message) -> Sent | Refused:
        target, key = self._target, message.to.lower()
        assert message.key is not None
        with self._store():
            if target.broken != "no key" and message.key in target.sends:
                state, message_id = target.sends[message.key]
                if state == "delivered":
                    return Sent(message_id=message_id, replay=True)
                return Refused(code=Code.SEND_STATUS_UNKNOWN, message_id=message_id)
            owner, token, _, expires_at_ms = target.leases.get(key, ("", 0, 0, 0))
            if target.broken != "fence" and message.token != token:
                return Refused(code=Code.STALE_FENCING_TOKEN, token=token, owner=owner)
            if target.broken not in {"fence", "expiry"} and expires_at_ms <= target.now_ms():
                return Refused(code=Code.LEASE_EXPIRED)
            point("send.checked", key, message.key)
            message_id = f"<{message.key}@toy>"
            target.sends[message.key] = ("dispatching", message_id)
        point("send.dispatching", key, message.key)
        state = self._hand_over(message, message_id)
        point("send.handed_over", key, message.key)
        with self._store():
            target.sends[message.key] = (state, message_id)
        if state == "unknown":
            return Refused(code=Code.SEND_STATUS_UNKNOWN, message_id=message_id)
        return Sent(message_id=message_id)

    def _hand_over(self, message: Message, message_id: str) -> str:
        transport = self._target.env.transport
        assert transport is not None
        try:
            transport.hand_over(
                Outgoing(
                    sender=self._agent,
                    recipient=message.to,
                    message_id=message_id,
                    intent=message.intent,
                    data=b"",
                )
            )
        except (NoAnswer, Rejected):
            return "unknown"
        return "delivered"

    def lookup(self, key: str) -> Found | Refused:
        with self._store():
            state, message_id = self._target.sends.get(key, ("absent", None))
            return Found(state=SendState(state), message_id=message_id)

    def suppress(self, address: str, reason: str) -> Noted | Refused:
        raise NotImplementedError

    def unsuppress(self, address: str, person: str) -> Noted | Refused:
        raise NotImplementedError

    def override(self, address: str, person: str, reason: str) -> Noted | Refused:
        raise NotImplementedError

    def close(self) -> None:
        pass


toy = ToyTarget()
toy_without_fence = ToyTarget("fence")
