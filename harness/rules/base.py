"""What a rule is, and the judge that feeds a history to all of them.

A rule is an incremental monitor: it is told of each event once, in order, keeps a small state, and
says what it finds as soon as it is certain. A rule judges by intervals (spec: S10): an operation
happened somewhere between its invoke and its completion, an operation of unknown outcome may have
happened at any time after its invoke or never. What one consistent order can explain is no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from ..contract import Capability
from ..history import (
    AnyEvent,
    AuditEvent,
    DeliveryEvent,
    FaultEvent,
    MarkEvent,
    Operation,
    OpEvent,
    OpType,
    Pairer,
)
from ..verdict import Finding, Verdict
from .info import RaceInfo
from .ledger import Intent, Ledger, Person, View

FINDINGS_A_RULE_MAX = 100
"""How many findings of one rule are kept; the rest is counted."""


class Rule:
    """One property of a history. Subclasses override what they need to hear.

    What was told so far stands in `self.ledger`; a rule keeps little of its own.

    Attributes:
        name: ``family.property``, such as ``tokens.rise``.
        spec: Numbers of the spec it carries.
        needs: Capabilities without which it can't be judged.
        seen_through: Layers that would hide a breach of it from somebody who only counts mail.
        hears: Mailbox methods whose operations it is told of; empty for all.
        outcomes: How those must have ended for `completed` and `settled`; empty for all.
        decisions: Decisions of the audit log it is told of; empty for all.
        needs_mark: It sleeps, and costs nothing, until a mark of this name stands in the history; "" for
            a rule that is always awake.
    """

    name: ClassVar[str]
    spec: ClassVar[tuple[str, ...]]
    needs: ClassVar[frozenset[Capability]] = frozenset()
    seen_through: ClassVar[tuple[str, ...]] = ()
    hears: ClassVar[frozenset[str]] = frozenset()
    outcomes: ClassVar[frozenset[OpType]] = frozenset()
    decisions: ClassVar[frozenset[str]] = frozenset()
    needs_mark: ClassVar[str] = ""

    def __init__(self, info: RaceInfo, ledger: Ledger) -> None:
        self.info = info
        self.ledger = ledger
        self.exercised = 0
        """How many times it had something to judge; 0 means its silence says nothing."""

    def invoked(self, view: View) -> Iterable[Finding]:
        """An operation began."""
        return ()

    def completed(self, view: View) -> Iterable[Finding]:
        """An operation ended; `view.op.type` is ok, fail or info."""
        return ()

    def settled(self, view: View) -> Iterable[Finding]:
        """An operation ended, and so did all that overlapped it: all that could explain it is known."""
        return ()

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        """A message reached the receiving mailbox; `intent` if an agent sent one of that id."""
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
        """What its further findings depend on beside the ledger, for the simulator's visited states."""
        return freeze({name: item for name, item in vars(self).items() if name not in _NO_STATE})

    def finding(
        self, message: str, *ops: Operation, contact: str = "", t: int | None = None
    ) -> Finding:
        """Make a finding of this rule that `ops` prove."""
        when = max((op.completed_ns or op.invoked_ns for op in ops), default=0)
        return Finding(
            rule=self.name,
            spec=self.spec,
            message=message,
            ops=tuple(dict.fromkeys(op.op for op in ops)),
            contact=contact or (ops[0].contact if ops else ""),
            agents=tuple(dict.fromkeys(op.agent for op in ops)),
            t=when if t is None else t,
        )


COUNTS = ("duplicates", "double_contacts", "late_hand_overs")
"""What rules count beside their findings; summed over all of them."""

_NO_STATE = frozenset({"info", "ledger", "exercised", *COUNTS})


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
        left_out: Rule to how many findings it had beyond those kept.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    exercised: Mapping[str, int] = field(default_factory=dict)
    not_judged: tuple[str, ...] = ()
    windows: Mapping[str, int] = field(default_factory=dict)
    duplicates: int = 0
    double_contacts: int = 0
    late_hand_overs: int = 0


Hook = Callable[..., Iterable[Finding]]


class _Plan:
    """Who hears what, worked out once for a list of rules: an event costs only those who listen.

    Args:
        kinds: The rules.
        crashed: Places of those that hear nothing any more.
    """

    def __init__(
        self, kinds: tuple[type[Rule], ...], crashed: frozenset[int] = frozenset()
    ) -> None:
        self._kinds = kinds
        self._crashed = crashed
        self.table: dict[tuple[str, str, str], tuple[tuple[int, Hook], ...]] = {}

    def listeners(self, key: tuple[str, str, str]) -> tuple[tuple[int, Hook], ...]:
        """Places of the rules that hear of it, with their hook.

        The key is the hook, the method, and the outcome or the audit log's decision.
        """
        hook, f, outcome = key
        found = self.table[key] = tuple(
            (place, getattr(kind, hook))
            for place, kind in enumerate(self._kinds)
            if place not in self._crashed
            and getattr(kind, hook) is not getattr(Rule, hook)
            and (not f or not kind.hears or f in kind.hears)
            and _wants(kind.decisions if hook == "decided" else kind.outcomes, outcome)
        )
        return found


def _wants(wanted: frozenset[Any], outcome: str) -> bool:
    return not outcome or not wanted or outcome in wanted


Rules = tuple[type[Rule], ...]


@lru_cache(maxsize=256)
def _sorted(
    rules: Rules, capabilities: frozenset[Capability]
) -> tuple[Rules, Rules, tuple[str, ...]]:
    """The rules a target can be judged by, those that sleep until a mark, and names of the others."""
    fit = tuple(rule for rule in rules if rule.needs <= capabilities)
    awake = tuple(rule for rule in fit if not rule.needs_mark)
    asleep = tuple(rule for rule in fit if rule.needs_mark)
    return awake, asleep, tuple(rule.name for rule in rules if not rule.needs <= capabilities)


@lru_cache(maxsize=256)
def _plan(rules: Rules, crashed: frozenset[int] = frozenset()) -> _Plan:
    """One plan for all judges that have these rules."""
    return _Plan(rules, crashed)


class Judge:
    """Feeds one race's events to rules.

    Args:
        info: The race.
        rules: Rule classes; those whose capabilities are missing are left out and named.
    """

    def __init__(self, info: RaceInfo, rules: Sequence[type[Rule]]) -> None:
        self.ledger = Ledger(info.settings, virtual=info.clock == "virtual")
        self._info = info
        kinds, self._asleep, self.not_judged = _sorted(tuple(rules), info.capabilities)
        self._kinds: Rules = ()
        self._made: list[Rule | None] = []
        """The rules by their places; None for one that has heard of nothing yet."""
        self._crashed: frozenset[int] = frozenset()
        self._seat(kinds)
        self.findings: list[Finding] = []
        self.left_out: dict[str, int] = {}
        self.unknown: list[str] = []
        self.windows: dict[str, int] = {}
        self._pairer = Pairer()
        self._place = 0
        self._found: dict[str, int] = {}

    def _seat(self, kinds: Rules) -> None:
        """These rules hear of all that follows."""
        self._kinds += kinds
        self._plan = _plan(self._kinds, self._crashed)
        self._made += [None] * len(kinds)
        self._stateful: list[Rule] | None = None

    def _make(self, place: int) -> Rule:
        """A rule is made when it first hears of something: most runs have no word for most rules."""
        rule = self._made[place] = self._kinds[place](self._info, self.ledger)
        return rule

    def _wake(self, mark: str) -> None:
        """A mark came that rules sleep for."""
        woken = tuple(kind for kind in self._asleep if kind.needs_mark == mark)
        if woken:
            self._asleep = tuple(kind for kind in self._asleep if kind not in woken)
            self._seat(woken)

    @property
    def rules(self) -> list[Rule]:
        """Rules that judge, those that crashed left out."""
        return [
            rule or self._make(place)
            for place, rule in enumerate(self._made)
            if place not in self._crashed
        ]

    def feed(self, event: AnyEvent) -> None:
        """Take one event in.

        Raises:
            InvalidHistory: The event can't stand where it stands.
        """
        self._place += 1
        if isinstance(event, OpEvent):
            self._operation(event)
        elif isinstance(event, DeliveryEvent):
            intent = self.ledger.delivered(event)
            self._tell(("delivered", "", ""), event, intent)
        elif isinstance(event, FaultEvent):
            for person in self.ledger.struck(event):
                self._settle(person)
            self._tell(("struck", "", ""), event)
        elif isinstance(event, AuditEvent):
            self._tell(("decided", "", event.value["decision"]), event)
        else:
            if event.name == "window":
                window = event.data["window"]
                self.windows[window] = self.windows.get(window, 0) + 1
            if self._asleep:
                self._wake(event.name)
            self._tell(("marked", "", ""), event)

    def _operation(self, event: OpEvent) -> None:
        op = self._pairer.feed(event, self._place)
        if event.type is OpType.INVOKE:
            self._tell(("invoked", op.f, ""), self.ledger.begin(op))
            return
        view = self.ledger.complete(op)
        self._tell(("completed", op.f, op.type), view)
        self._settle(view.person)

    def _settle(self, person: Person) -> None:
        for view in self.ledger.settled(person):
            self._tell(("settled", view.op.f, view.op.type), view)
        self.ledger.forget(person)

    def finish(self) -> None:
        """Say that the history ended: what is open stays unknown for ever."""
        for person in self.ledger.people.values():
            person.open.clear()
            self._settle(person)
        self._tell(("finish", "", ""), self._pairer.open_operations())

    def state(self) -> Hashable:
        """What the findings still to come depend on."""
        if self._stateful is None:
            self._stateful = [rule for rule in self.rules if vars(rule).keys() - _NO_STATE]
        own = tuple([rule.state() for rule in self._stateful])
        return (self.ledger.state(), own, len(self.unknown))

    def _tell(self, key: tuple[str, str, str], *items: object) -> None:
        listeners = self._plan.table.get(key)
        if listeners is None:
            listeners = self._plan.listeners(key)
        made = self._made
        for place, hook in listeners:
            try:
                for finding in hook(made[place] or self._make(place), *items):
                    self._take(finding)
            except Exception as error:  # noqa: BLE001 - a rule that crashed is unknown, never valid
                name = self._kinds[place].name
                self.unknown.append(f"rule {name} crashed: {type(error).__name__}: {error}")
                self._crashed |= {place}
                self._plan = _plan(self._kinds, self._crashed)

    def _take(self, finding: Finding) -> None:
        """Keep a finding; a rule that is broken at every step does not fill the memory."""
        count = self._found[finding.rule] = self._found.get(finding.rule, 0) + 1
        if count <= FINDINGS_A_RULE_MAX:
            self.findings.append(finding)
        else:
            self.left_out[finding.rule] = count - FINDINGS_A_RULE_MAX

    def judgement(self) -> Judgement:
        """What the rules say so far."""
        if self.findings:
            verdict = Verdict.INVALID
        else:
            verdict = Verdict.UNKNOWN if self.unknown else Verdict.VALID
        counts = {name: sum(getattr(rule, name, 0) for rule in self.rules) for name in COUNTS}
        return Judgement(
            verdict=verdict,
            findings=tuple(self.findings),
            left_out=dict(self.left_out),
            unknown=tuple(self.unknown),
            exercised={rule.name: rule.exercised for rule in self.rules},
            not_judged=self.not_judged,
            windows=dict(self.windows),
            **counts,
        )


def judge(history: Iterable[AnyEvent], info: RaceInfo, rules: Sequence[type[Rule]]) -> Judgement:
    """Judge one race's history.

    Args:
        history: Its events, in order.
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
