"""What a rule is, and the judge that feeds a history to all of them.

A rule is an incremental monitor: it is told of each event once, in order, keeps a small state, and
says what it finds as soon as it is certain. A rule judges by intervals (spec: S10): an operation
happened somewhere between its invoke and its completion, an operation of unknown outcome may have
happened at any time after its invoke or never. What one consistent order can explain is no finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from ..contract import Capability, Settings
from ..history import (
    AnyEvent,
    AuditEvent,
    DeliveryEvent,
    FaultEvent,
    History,
    MarkEvent,
    Operation,
    OpEvent,
    OpType,
    Pairer,
)
from ..verdict import Finding, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceInfo:
    """What a rule must know of a race before it begins; from the mark ``race.begin``.

    Args:
        settings: Lengths in force.
        capabilities: What the target can do.
        agents: Ids of the agents.
        isolated: False where the target's fixed lengths keep a layer on that should be off.
    """

    settings: Settings = field(default_factory=Settings)
    capabilities: frozenset[Capability] = frozenset(Capability)
    agents: tuple[str, ...] = ()
    isolated: bool = True

    @classmethod
    def from_mark(cls, data: Mapping[str, Any]) -> RaceInfo:
        """Read the data of a ``race.begin`` mark."""
        return msgspec.convert(
            {name: data[name] for name in ("settings", "capabilities", "agents") if name in data},
            cls,
        )

    def to_mark(self) -> dict[str, Any]:
        """The same as JSON."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        value["capabilities"] = sorted(value["capabilities"])
        return value


class Rule:
    """One property of a history. Subclasses override what they need to hear.

    Attributes:
        name: ``family.property``, such as ``tokens.rise``.
        spec: Numbers of the spec it carries.
        needs: Capabilities without which it can't be judged.
        seen_through: Layers that would hide a breach of it from somebody who only counts mail.
    """

    name: ClassVar[str]
    spec: ClassVar[tuple[str, ...]]
    needs: ClassVar[frozenset[Capability]] = frozenset()

    def __init__(self, info: RaceInfo) -> None:
        self.info = info
        self.exercised = 0
        """How many times it had something to judge; 0 means its silence says nothing."""

    def invoked(self, op: Operation) -> Iterable[Finding]:
        """An operation began."""
        return ()

    def completed(self, op: Operation) -> Iterable[Finding]:
        """An operation ended; `op.type` is ok, fail or info."""
        return ()

    def delivered(self, event: DeliveryEvent) -> Iterable[Finding]:
        """A message reached the receiving mailbox."""
        return ()

    def struck(self, event: FaultEvent) -> Iterable[Finding]:
        """A fault began or ended."""
        return ()

    def marked(self, event: MarkEvent) -> Iterable[Finding]:
        """The harness said something about the run."""
        return ()

    def decided(self, event: AuditEvent) -> Iterable[Finding]:
        """A decision of the audit log, in commit order; they come after the operations."""
        return ()

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        """The history ended; `open_ops` never completed."""
        return ()

    def state(self) -> Hashable:
        """What its further findings depend on, for the simulator's visited states."""
        return freeze({name: value for name, value in vars(self).items() if name != "info"})

    def finding(
        self, message: str, *ops: Operation, contact: str = "", t: int | None = None
    ) -> Finding:
        """Make a finding of this rule that `ops` prove."""
        when = max((op.completed_ns or op.invoked_ns for op in ops), default=0)
        return Finding(
            rule=self.name,
            spec=self.spec,
            message=message,
            ops=tuple(op.op for op in ops),
            contact=contact or (ops[0].contact if ops else ""),
            agents=tuple(dict.fromkeys(op.agent for op in ops)),
            t=when if t is None else t,
        )


def freeze(value: Any) -> Hashable:
    """A hashable picture of a rule's state; operations count by what was said of them."""
    match value:
        case Operation():
            return (value.op, value.type, value.code, value.invoked_ns, value.completed_ns)
        case dict():
            return tuple((freeze(key), freeze(item)) for key, item in value.items())
        case list() | tuple():
            return tuple(freeze(item) for item in value)
        case set() | frozenset():
            return frozenset(freeze(item) for item in value)
        case _:
            return value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the rules say of one race.

    Args:
        verdict: Invalid with a finding, unknown where a rule crashed, else valid.
        findings: In order of discovery.
        unknown: Why something could not be judged, one sentence each.
        exercised: Rule to how often it had something to judge.
        not_judged: Rules left out because the target lacks a capability.
        windows: Situations entered and how often.
        duplicates: Deliveries beyond the first of an intent.
        double_contacts: Pairs of agents that wrote to one person inside a cooldown.
        late_hand_overs: Deliveries after a newer grant, authorised before it.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    unknown: tuple[str, ...] = ()
    exercised: Mapping[str, int] = field(default_factory=dict)
    not_judged: tuple[str, ...] = ()
    windows: Mapping[str, int] = field(default_factory=dict)
    duplicates: int = 0
    double_contacts: int = 0
    late_hand_overs: int = 0


class Judge:
    """Feeds one race's events to rules.

    Args:
        info: The race.
        rules: Rule classes; those whose capabilities are missing are left out and named.
    """

    def __init__(self, info: RaceInfo, rules: Sequence[type[Rule]]) -> None:
        self.rules = [rule(info) for rule in rules if rule.needs <= info.capabilities]
        self.not_judged = tuple(rule.name for rule in rules if not rule.needs <= info.capabilities)
        self.findings: list[Finding] = []
        self.unknown: list[str] = []
        self.windows: Counter[str] = Counter()
        self._pairer = Pairer()

    def feed(self, event: AnyEvent) -> None:
        """Take one event in.

        Raises:
            InvalidHistory: The event can't stand where it stands.
        """
        if isinstance(event, OpEvent):
            op = self._pairer.feed(event)
            self._tell("invoked" if event.type is OpType.INVOKE else "completed", op)
        elif isinstance(event, DeliveryEvent):
            self._tell("delivered", event)
        elif isinstance(event, FaultEvent):
            self._tell("struck", event)
        elif isinstance(event, AuditEvent):
            self._tell("decided", event)
        else:
            if event.name == "window":
                self.windows[event.data["window"]] += 1
            self._tell("marked", event)

    def finish(self) -> None:
        """Say that the history ended."""
        self._tell("finish", self._pairer.open_operations())

    def state(self) -> Hashable:
        """The state of all rules together."""
        return tuple(rule.state() for rule in self.rules)

    def _tell(self, what: str, item: object) -> None:
        for rule in tuple(self.rules):
            try:
                self.findings.extend(getattr(rule, what)(item))
            except Exception as error:  # noqa: BLE001 - a rule that crashed is unknown, never valid
                self.rules.remove(rule)
                self.unknown.append(f"rule {rule.name} crashed: {type(error).__name__}: {error}")

    def judgement(self) -> Judgement:
        """What the rules say so far."""
        if self.findings:
            verdict = Verdict.INVALID
        else:
            verdict = Verdict.UNKNOWN if self.unknown else Verdict.VALID
        counts = Counter(
            {
                name: sum(getattr(rule, name, 0) for rule in self.rules)
                for name in ("duplicates", "double_contacts", "late_hand_overs")
            }
        )
        return Judgement(
            verdict=verdict,
            findings=tuple(self.findings),
            unknown=tuple(self.unknown),
            exercised={rule.name: rule.exercised for rule in self.rules},
            not_judged=self.not_judged,
            windows=dict(self.windows),
            **counts,
        )


def judge(history: History, info: RaceInfo, rules: Sequence[type[Rule]]) -> Judgement:
    """Judge one race's history.

    Args:
        history: Its events.
        info: The race.
        rules: Rule classes, usually `leaserace.harness.rules.ALL`.

    Raises:
        InvalidHistory: The events can't be a history.
    """
    judge_ = Judge(info, rules)
    for event in history:
        judge_.feed(event)
    judge_.finish()
    return judge_.judgement()


__all__ = ["Judge", "Judgement", "RaceInfo", "Rule", "freeze", "judge"]
