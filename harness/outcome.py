"""What a run came to: all that reports need beside the history; ``verdict.json`` is this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from .verdict import RaceResult, Verdict

VERSION = 1
"""Version of ``verdict.json``; a file of a later version is refused by name."""


class InvalidOutcome(ValueError):  # noqa: N818 - the name says what it is
    """The text is no ``verdict.json``; the message names the file and what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryResult:
    """Whether the gate caught a broken twin before it judged the target.

    Args:
        twin: Name of the twin, such as ``without_fencing_check``.
        rule: The rule that must catch it.
        caught: Whether that rule did.
        seconds: Wall-clock seconds until it was caught, or until it was given up.
        detail: What was seen, one sentence.
        is_agent: The twin is an agent with a bad habit, not a mailbox.
    """

    twin: str
    rule: str
    caught: bool
    seconds: float
    detail: str = ""
    is_agent: bool = False

    @classmethod
    def of(
        cls, result: RaceResult, *, twin: str, rule: str, seconds: float, is_agent: bool = False
    ) -> CanaryResult:
        """Whether the race caught it, by the rule that must; fields as in the class."""
        caught = any(finding.rule == rule for finding in result.findings)
        return cls(
            twin=twin,
            rule=rule,
            caught=result.verdict is Verdict.INVALID and caught,
            seconds=seconds,
            detail=result.findings[0].message if result.findings else result.reason,
            is_agent=is_agent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """Figures of one round in which all agents worked the same contacts.

    Args:
        race: Its name in the history.
        agents: How many agents took part.
        seconds: How long it ran.
        contacts: How many contacts they shared.
        attempts: Calls of `acquire`.
        grants: How many of them were granted.
        conflicts: How many were refused because another agent held the contact.
        sends: Messages acknowledged by the target.
        deliveries: Messages that arrived.
        share_by_agent: Agent id to its number of grants.
        longest_wait_s: Longest time from an agent's first ask for a contact to its grant.
        contended: False if an agent starved, so that the round says little.
    """

    race: str
    agents: int
    seconds: float
    contacts: int = 0
    attempts: int = 0
    grants: int = 0
    conflicts: int = 0
    sends: int = 0
    deliveries: int = 0
    share_by_agent: Mapping[str, int] = field(default_factory=dict)
    longest_wait_s: float = 0.0
    contended: bool = True

    @property
    def slowest_to_fastest(self) -> float:
        """Grants of the slowest agent as a share of the fastest one's, 0 to 1."""
        shares = self.share_by_agent.values()
        return min(shares) / max(shares) if shares and max(shares) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """One answer an agent under test was given, for the agent's author (spec: A).

    Args:
        situation: Name of the situation.
        answer: What it was answered, or what happened to it.
        f: The mailbox method that was answered.
        given: How often it was.
        did: The answered call and those after it, in words.
        right: What is right next.
        verdict: The verdict; not applicable where the agent never makes that call.
        why: The most telling finding, or why it could not be judged, or how the agent ended.
        rules: Rules that have findings.
        ops: Operations that prove them.
        scripted: A script gave the answer, since no circumstance can.
        race: The race in the history.
    """

    situation: str
    answer: str
    f: str
    given: int
    did: tuple[str, ...]
    right: str
    verdict: Verdict
    why: str = ""
    rules: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    scripted: bool = False
    race: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """What an agent under test did (spec: A).

    Args:
        name: As the user named it.
        answers: One a situation, in the order they were run.
        habits: Bad habits that were recognised, by name, each with how often.
    """

    name: str
    answers: tuple[AgentAnswer, ...] = ()
    habits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """One run, judged.

    Args:
        command: ``gate``, ``run``, ``judge`` or ``explore``.
        target: Name of the target.
        seed: The run's seed.
        agents: Fewest and most agents that took part (spec: T2).
        verdict: The verdict of the whole run.
        races: One result a race, in the order they ran.
        again: The command that runs it again.
        started_at: When it began, ISO 8601 with its zone.
        elapsed_s: Wall-clock seconds it took.
        canary: The broken twin that was fed first, or None if none was.
        contention: Figures of the contention rounds.
        agent: The agent that was under test, or None.
        versions: Of leaserace, Python, the system and what matters beside.
        policy: The policy or the settings in force.
        notices: What a reader must know, one sentence each.
        version: Version of this form.
    """

    command: str = "gate"
    target: str
    seed: int
    agents: tuple[int, int]
    verdict: Verdict
    races: tuple[RaceResult, ...]
    again: str
    started_at: str
    elapsed_s: float
    canary: CanaryResult | None = None
    contention: tuple[Contention, ...] = ()
    agent: AgentReport | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    version: int = VERSION

    @property
    def rounds(self) -> int:
        """Rounds that entered their window, over all races."""
        return sum(race.rounds for race in self.races)

    @property
    def duplicates(self) -> int:
        """Deliveries beyond the first of an intent, over all races."""
        return sum(race.duplicates for race in self.races)

    @property
    def double_contacts(self) -> int:
        """Pairs of agents that wrote to one person inside a cooldown, over all races."""
        return sum(race.double_contacts for race in self.races)

    @property
    def late_hand_overs(self) -> int:
        """Deliveries after a newer grant, authorised before it (spec: S10), over all races."""
        return sum(race.late_hand_overs for race in self.races)

    def count(self, verdict: Verdict) -> int:
        """How many races came out so."""
        return sum(race.verdict is verdict for race in self.races)

    def to_json(self) -> bytes:
        """The same as indented JSON, the same bytes each time."""
        return msgspec.json.format(msgspec.json.encode(self, order="sorted"), indent=2) + b"\n"

    @classmethod
    def from_json(cls, data: bytes | str, where: str = "verdict.json") -> RunOutcome:
        """Read what `to_json` wrote; fields it does not know are left out.

        Args:
            data: The text.
            where: The file's name, for the error.

        Raises:
            InvalidOutcome: It is something else, or of a later version.
        """
        try:
            outcome = msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{where}: not a verdict: {error}"
            raise InvalidOutcome(message) from error
        if outcome.version > VERSION:
            message = f"{where}: version {outcome.version}, this leaserace reads {VERSION}"
            raise InvalidOutcome(message)
        return outcome
