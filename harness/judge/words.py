"""A contact's calls as the simulator's programs: a word an agent, and the order in which they move.

A program's letters make the calls whatever they are answered, which is what a log of a leaking system
needs. Its waits are in the simulator's own seconds: the log's times are stretched until its lease is
as long as the one here, and moved where needed, so that every lease and cooldown that had ended before a
call in the log has ended before it here, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..history import OpEvent, OpType
from ..simulation.choices import AGENTS_MAX
from ..simulation.subjects import EACH, POLICIES, program_of
from .replay import Step, agents_of

PLAIN_POLICY, COOLDOWN_POLICY = "plain", "cooldown"
_CALLS = {
    "acquire": "A",
    "renew": "N",
    "release": "L",
    "suppress": "O",
    "unsuppress": "U",
    "override": "V",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What one step of the log has an agent do.

    Args:
        agent: Its place.
        do: As in `Step`.
        lost: Whether its reply is lost.
    """

    agent: int
    do: str
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A contact's calls, ready to be played.

    Args:
        subject: As `leaserace.harness.simulation.subjects` reads it.
        policy: Name of the policy variant.
        moves: In order.
        calls: For each agent the operations of the log that its calls stand for.
        missing: What could not be put into it, one sentence each.
    """

    subject: str
    policy: str
    moves: tuple[Move, ...]
    calls: tuple[tuple[str, ...], ...]
    missing: tuple[str, ...]


@dataclass(slots=True)
class _Client:
    """What a program's letters work on, as the log tells it."""

    word: str = ""
    calls: list[str] = field(default_factory=list)
    lease: str = ""
    message: str = ""
    key: str = ""
    message_lease: str = ""
    first_message: str = ""
    spelling: int = 0
    free_s: int | None = None
    """When its last call ended; None if it has made none."""


class Times:
    """From the log's milliseconds to the simulator's seconds.

    Args:
        lease_s, cooldown_s: In force in the log.
        policy: Name of the policy variant.
    """

    def __init__(self, lease_s: float, cooldown_s: float, policy: str) -> None:
        settings = POLICIES[policy]
        self._lease_s, self._cooldown_s = int(settings.lease_s), int(settings.cooldown_s)
        self._scale = settings.lease_s / (lease_s * 1000)
        self._log_lease_ms, self._log_cooldown_ms = lease_s * 1000, cooldown_s * 1000
        self._gap_max_s = max(self._lease_s, self._cooldown_s) + 1
        self._deadlines: list[tuple[int, float]] = []
        self._at_ms = self.now_s = 0
        self.torn = 0
        """How many steps could not stand on the right side of every deadline."""

    def reach(self, at_ms: int) -> int:
        """The second at which a step of the log happens here."""
        gap_s = min(self._gap_max_s, round((at_ms - self._at_ms) * self._scale))
        wanted_s = self.now_s + max(0, gap_s)
        least_s, most_s = self.now_s, 1 << 40
        for here_s, log_ms in self._deadlines:
            if at_ms >= log_ms:
                least_s = max(least_s, here_s)
            else:
                most_s = min(most_s, here_s - 1)
        self.torn += least_s > most_s
        self._at_ms = max(self._at_ms, at_ms)
        self.now_s = max(min(wanted_s, most_s), least_s) if least_s <= most_s else least_s
        return self.now_s

    def granted(self, at_ms: int, ends_ms: float | None) -> None:
        """A lease begins to run; `ends_ms` as the log tells it."""
        self._add(self._lease_s, at_ms + self._log_lease_ms if ends_ms is None else ends_ms)

    def sent(self, at_ms: int) -> None:
        """A cooldown begins to run."""
        if self._cooldown_s:
            self._add(self._cooldown_s, at_ms + self._log_cooldown_ms)

    def _add(self, length_s: int, log_ms: float) -> None:
        self._deadlines = [
            (here_s, there_ms)
            for here_s, there_ms in self._deadlines
            if here_s > self.now_s or there_ms > self._at_ms
        ]
        self._deadlines.append((self.now_s + length_s, log_ms))


class Words:
    """Writes the words.

    Args:
        steps: The contact's, in order.
        ends: Operation to its end in the log.
        zero_ns: When the first step was.
        lease_s, cooldown_s: In force in the log.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        ends: Mapping[str, OpEvent],
        *,
        zero_ns: int,
        lease_s: float,
        cooldown_s: float,
    ) -> None:
        self._steps = steps
        self._ends = ends
        self._zero_ms = zero_ns // 1_000_000
        self._policy = COOLDOWN_POLICY if cooldown_s else PLAIN_POLICY
        self._lease_s, self._cooldown_s = lease_s, cooldown_s
        self._times = Times(lease_s, cooldown_s, self._policy)
        self._names = agents_of(steps)[:AGENTS_MAX]
        self._clients = {name: _Client() for name in self._names}
        self._missing: dict[str, None] = {}
        granted = (step.op for step in steps if step.f == "acquire" and self._is_ok(step.op))
        self._first_lease = next(granted, "")
        self._lost = {step.op for step in steps if step.lost}
        self._tells_leases = any(step.f == "acquire" or step.lease for step in steps)

    def plan(self) -> Plan:
        """The words, and the order in which the agents move."""
        moves = tuple(self._moves())
        words = [f"{client.word}_0" for client in self._clients.values()]
        return Plan(
            subject=program_of(tuple(words)),
            policy=self._policy,
            moves=moves,
            calls=tuple(tuple(client.calls) for client in self._clients.values()),
            missing=tuple(self._missing_at_last()),
        )

    def _moves(self) -> Iterator[Move]:
        for step in self._steps:
            client = self._clients.get(step.agent)
            if client is None:
                self._miss(f"calls of agents after the first {AGENTS_MAX}")
                continue
            place, borrows = self._names.index(step.agent), self._borrows(step)
            if step.do != "end":
                # Nobody can wait while it stands inside its call: whoever calls next waits longer.
                since_s = self._times.now_s if client.free_s is None else client.free_s
                self._wait(client, self._times.reach(step.at_ms) - since_s)
                if borrows:
                    yield self._extra(client, place, "A")
                self._write(client, step)
            lost = step.do != "begin" and step.op in self._lost
            yield Move(agent=place, do=step.do, lost=lost)
            if step.do != "begin":
                if borrows:
                    yield self._extra(client, place, "L")
                client.free_s = self._times.now_s
                self._ended(client, step)

    def _borrows(self, step: Step) -> bool:
        """Whether a send takes a lease here since the log tells of none at all."""
        if step.f != "send" or self._tells_leases:
            return False
        self._miss("under which leases the sends were made: each takes one here and gives it back")
        return True

    def _extra(self, client: _Client, place: int, letter: str) -> Move:
        client.word += letter
        client.calls.append("")
        return Move(agent=place, do="call")

    def _wait(self, client: _Client, wait_s: int) -> None:
        lease_s = int(POLICIES[self._policy].lease_s)
        client.word += "X" * (wait_s // lease_s) + "W" * (wait_s % lease_s)

    def _write(self, client: _Client, step: Step) -> None:
        """Add the letters of one call."""
        client.word += "Z" * ((step.spelling - client.spelling) % EACH)
        client.spelling = step.spelling % EACH
        if step.spelling >= EACH:
            self._miss(f"spellings of the contact after the first {EACH}")
        if step.f in {"renew", "release", "send"}:
            self._take_lease(client, step)
        client.word += self._send(client, step) if step.f == "send" else _CALLS[step.f]
        client.calls.append(step.op)

    def _take_lease(self, client: _Client, step: Step) -> None:
        """Have the client hold the lease that the call names."""
        if step.lease == client.lease:
            return
        if not step.lease:
            return  # no token in the log: said elsewhere
        if step.lease == self._first_lease:
            client.word += "G"
            client.lease = step.lease
            return
        self._miss("calls under a lease that is neither the caller's last one nor the first of all")

    def _send(self, client: _Client, step: Step) -> str:
        first = self._clients[self._names[0]]
        again = bool(step.message) and step.message == client.message
        if again and step.key == client.key:
            letter = "R" if step.lease == client.message_lease else "Q"
            client.message_lease = step.lease
            return letter
        if again:
            self._miss("a retry under a fresh key: it is another message here")
        elif client is not first and step.message and step.message == first.first_message:
            return "C"
        elif any(step.message and step.message == each.message for each in self._clients.values()):
            self._miss("a message sent again by another agent: it is another message here")
        client.message, client.key, client.message_lease = step.message, step.key, step.lease
        client.first_message = client.first_message or step.message
        return "T" if step.kind == "transactional" else "S"

    def _ended(self, client: _Client, step: Step) -> None:
        """Note what the end of a call starts: a lease, a cooldown."""
        end = self._ends.get(step.op)
        if end is None or end.type is not OpType.OK:
            return
        at_ms = end.t // 1_000_000 - self._zero_ms
        if step.f in {"acquire", "renew"}:
            told = end.value.get("expires_at_ms")
            self._times.granted(at_ms, None if told is None else told - self._zero_ms)
            if step.f == "acquire" and not step.lost:
                client.lease = step.op
        elif step.f == "send" and not end.value.get("replay"):
            self._times.sent(at_ms)

    def _is_ok(self, op: str) -> bool:
        end = self._ends.get(op)
        return end is not None and end.type is OpType.OK

    def _miss(self, sentence: str) -> None:
        self._missing[sentence] = None

    def _missing_at_last(self) -> Iterator[str]:
        yield from self._missing
        settings = POLICIES[self._policy]
        here = f"{settings.lease_s:g} s and {settings.cooldown_s:g} s"
        if (settings.lease_s, settings.cooldown_s) != (self._lease_s, self._cooldown_s):
            yield (
                f"lease and cooldown of {self._lease_s:g} s and {self._cooldown_s:g} s: "
                f"the schedule has {here}, its waits are stretched to them"
            )
        if self._times.torn:
            yield (
                f"{self._times.torn} calls stand on the wrong side of the end of a lease or a "
                "cooldown: the two lengths stand otherwise to each other here"
            )


__all__ = ["Move", "Plan", "Times", "Words"]
