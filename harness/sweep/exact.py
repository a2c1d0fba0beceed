"""A real mailbox behind the same door: the target itself, on a clock and a transport of ours.

It runs in this process, one call after the other, as in the simulator. It takes about 100 µs a call
and keeps its audit log, so it is for days of some ten thousand tasks.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from ..clocks import ManualClock
from ..contract import (
    AgentContext,
    Capability,
    Code,
    Environment,
    Lease,
    Mailbox,
    Message,
    MessageKind,
    Outgoing,
    Refused,
    Sent,
    Settings,
    Target,
    UsageError,
)
from .door import Granted, Held
from .lengths import BY_POLICY, Cooldown

EPOCH_MS = 1_800_000_000_000
NEEDS = frozenset({Capability.LEASE, Capability.FENCING, Capability.SEND})
"""What a target must be able to do to be swept."""
_TRANSACTIONAL = re.compile(r"^\s*transactional_cooldown_s\s*=.*$", re.MULTILINE)


class Arrivals:
    """A transport that takes everything and counts it."""

    def __init__(self) -> None:
        self.arrived = 0

    def hand_over(self, outgoing: Outgoing) -> None:  # noqa: ARG002 - only that it came matters
        """Take a message."""
        self.arrived += 1


class Exact:
    """A target as a `Door`; use it as a context manager.

    Args:
        target: The system under test; it must take clock and transport from its environment.
        lease_s: Length of a lease.
        cooldown: Cooldowns; a flat one is asked for by the policy file, as is that of replies.
        agents: How many connect.
        policy_file: The user's policy file, or None.
    """

    def __init__(
        self,
        target: Target,
        *,
        lease_s: float,
        cooldown: Cooldown,
        agents: int,
        policy_file: Path | None = None,
    ) -> None:
        self._target = target
        self._clock = ManualClock(EPOCH_MS)
        self.transport = Arrivals()
        self._settings = Settings(lease_s=lease_s, cooldown_s=cooldown.commercial_s)
        self._cooldown = cooldown
        self._agents = agents
        self._policy_file = policy_file
        self._mailboxes: list[Mailbox] = []

    def __enter__(self) -> Exact:
        self._folder = tempfile.TemporaryDirectory(prefix="leaserace-sweep-")
        workdir = Path(self._folder.name)
        env = Environment(
            workdir=workdir,
            smtp=("localhost", 0),
            settings=self._settings,
            policy_file=policy_with(self._policy_file, self._cooldown, workdir),
            clock=self._clock,
            transport=self.transport,
        )
        try:
            self._connect(env)
        except BaseException:
            self._target.stop()
            self._folder.cleanup()
            raise
        return self

    def _connect(self, env: Environment) -> None:
        facts = self._target.start(env)
        if self._target.now_ms() != EPOCH_MS:
            raise UsageError(
                f"target {self._target.name!r} has a clock of its own: --exact needs one that "
                "takes clock and transport from its environment"
            )
        env = replace(env, facts=facts or {})
        for number in range(self._agents):
            context = AgentContext(
                id=f"agent-{number + 1:02}", incarnation=0, env=env, clock=self._clock
            )
            self._mailboxes.append(self._target.connect(context))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for mailbox in self._mailboxes:
            mailbox.close()
        self._target.stop()
        self._folder.cleanup()

    def acquire(self, agent: int, contact: int, now_ms: int) -> Granted | Held:
        """Claim a contact."""
        answer = self._call(agent, now_ms, lambda each: each.acquire(address(contact)))
        if isinstance(answer, Lease):
            until_ms = (answer.cooldown_until_ms or EPOCH_MS) - EPOCH_MS
            return answer.token, answer.expires_at_ms - EPOCH_MS, until_ms
        refused = _refused("acquire", answer)
        ends_ms = refused.expires_at_ms
        return refused.code, now_ms if ends_ms is None else ends_ms - EPOCH_MS

    def renew(self, agent: int, contact: int, token: int, now_ms: int) -> int | Code:
        """Extend a lease."""
        answer = self._call(agent, now_ms, lambda each: each.renew(address(contact), token))
        if isinstance(answer, Lease):
            return answer.expires_at_ms - EPOCH_MS
        return _refused("renew", answer).code

    def release(self, agent: int, contact: int, token: int, now_ms: int) -> Code | None:
        """Free a lease."""
        answer = self._call(agent, now_ms, lambda each: each.release(address(contact), token))
        return answer.code if isinstance(answer, Refused) else None

    def send(
        self, agent: int, contact: int, token: int, task: int, now_ms: int, *, is_reply: bool
    ) -> tuple[Code | None, int]:
        """Send under a lease."""
        message = Message(
            to=address(contact),
            subject=f"Task {task}",
            body=f"Hello again.\n\n[intent:task-{task}]\n",
            token=token,
            key=f"sweep:task-{task}:send",
            intent=f"task-{task}",
            kind=MessageKind.TRANSACTIONAL if is_reply else MessageKind.COMMERCIAL,
        )
        answer = self._call(agent, now_ms, lambda each: each.send(message))
        if isinstance(answer, Sent):
            return None, 0
        refused = _refused("send", answer)
        until_ms = refused.until_ms
        return refused.code, 0 if until_ms is None else until_ms - EPOCH_MS

    def _call(self, agent: int, now_ms: int, call: Callable[[Mailbox], Any]) -> Any:
        self._clock.set_ms(EPOCH_MS + now_ms)
        try:
            return call(self._mailboxes[agent])
        except Exception as error:
            raise UsageError(
                f"target {self._target.name!r} raised {type(error).__name__}: {error}: --exact needs "
                "a target that answers every call"
            ) from error


def address(contact: int) -> str:
    """The address of a contact."""
    return f"contact-{contact:06}@people.example.com"


def policy_with(path: Path | None, cooldown: Cooldown, workdir: Path) -> Path | None:
    """The policy file to use: the user's, with the transactional cooldown of this cell.

    `Settings` has one cooldown, for commercial messages; that of replies can only be said in a file.
    """
    if cooldown.name == BY_POLICY or (path is None and cooldown.transactional_s == 0):
        return path
    text = path.read_text(encoding="utf-8") if path else ""
    line = f"transactional_cooldown_s = {cooldown.transactional_s}\n"
    made = workdir / "policy.toml"
    made.write_text(line + _TRANSACTIONAL.sub("", text), encoding="utf-8")
    return made


def _refused(what: str, answer: Any) -> Refused:
    if not isinstance(answer, Refused):
        raise UsageError(
            f"{what} was answered by {answer!r:.100}: that is no answer of the contract"
        )
    return answer
