"""From a race that was run to what is said of it: rules, vacuity guard, one result.

Green is said only when the rules had no finding, nothing kept them from judging, and the race entered
every window it was made for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from .contract import Capability, Code, Target
from .engine import RaceRun, race_name
from .history import DeliveryEvent, History, Operation, OpType
from .rules import ALL
from .rules.base import Judgement, Rule, judge
from .scenario import Scenario, Variant
from .verdict import RaceResult, Verdict

Count = Callable[[Sequence[Operation]], int]


def not_applicable(scenario: Scenario, variant: Variant, target: Target) -> str | None:
    """Why a target can't be put through a variant, or None if it can."""
    missing = (scenario.needs | variant.needs) - set(target.capabilities)
    if missing:
        return f"the target does not declare {_names(missing)}"
    absent = variant.points - set(target.points)
    if absent:
        return f"the target does not pass the point {_names(absent)}"
    return None


def _names(items: Iterable[str | Capability]) -> str:
    return ", ".join(sorted(str(item) for item in items))


def unrun(
    scenario: Scenario,
    variant: Variant,
    *,
    agents: int,
    verdict: Verdict,
    reason: str,
    again: str = "",
) -> RaceResult:
    """The result of a race that was not run.

    Args:
        scenario: Which scenario.
        variant: Which variant.
        agents: How many agents would have taken part.
        verdict: `NOT_APPLICABLE`, `NOT_RUN` or, where its start failed, `UNKNOWN`.
        reason: Why, in words.
        again: The command that runs it.
    """
    return RaceResult(
        race=race_name(scenario, variant, agents),
        scenario=scenario.id,
        variant=variant.name,
        agents=agents,
        verdict=verdict,
        expected=scenario.expected,
        reason=reason,
        masked_by=scenario.masked_by,
        again=again,
    )


def result_of(
    run: RaceRun, *, again: str = "", rules: Sequence[type[Rule]] = ALL
) -> tuple[RaceResult, Judgement]:
    """Judge a run.

    Args:
        run: What an engine gave back.
        again: The command that runs it again.
        rules: By which it is judged.

    Returns:
        The result, and the judgement it rests on.

    Raises:
        InvalidHistory: The engine recorded something that is no history.
    """
    judgement = judge(run.history, run.info, rules)
    operations = run.history.operations()
    overlaps = {name: count(operations) for name, count in COUNTED.items()}
    reasons = [*run.problems, *judgement.unknown, *_missing_windows(run, judgement, overlaps)]
    if not operations and not reasons:
        reasons.append("no agent did anything")
    verdict = judgement.verdict
    if verdict is Verdict.VALID and reasons:
        verdict = Verdict.UNKNOWN
    wanted = [overlaps[name] for name in _windows(run) if name in overlaps]
    result = RaceResult(
        race=run.race,
        scenario=run.scenario.id,
        variant=run.variant.name,
        agents=run.agents,
        verdict=verdict,
        expected=run.scenario.expected,
        observed=_observed(run.history, operations),
        reason="; ".join(dict.fromkeys(reasons)),
        findings=judgement.findings,
        rounds=min(wanted) if wanted else run.rounds,
        duplicates=judgement.duplicates,
        double_contacts=judgement.double_contacts,
        late_hand_overs=judgement.late_hand_overs,
        masked_by=run.scenario.masked_by,
        again=again,
        figures=run.figures | {"seconds": run.seconds},
    )
    return result, judgement


def _windows(run: RaceRun) -> tuple[str, ...]:
    return (*run.scenario.windows, *run.variant.windows)


def _missing_windows(run: RaceRun, judgement: Judgement, overlaps: Mapping[str, int]) -> list[str]:
    """Windows that were never entered: then nothing was tested, whatever the rules say."""
    return [
        f"never entered its window: {name}"
        for name in _windows(run)
        if not judgement.windows.get(name) and not overlaps.get(name)
    ]


def overlapping(operations: Iterable[Operation], f: str) -> int:
    """On how many contacts two calls of `f` were under way at one time.

    Args:
        operations: In the order of their invokes.
        f: The mailbox method.
    """
    ends: dict[str, float] = defaultdict(float)
    contacts: set[str] = set()
    for op in operations:
        if op.f != f:
            continue
        if op.invoked_ns < ends[op.contact]:
            contacts.add(op.contact)
        end = float("inf") if op.completed_ns is None else op.completed_ns
        ends[op.contact] = max(ends[op.contact], end)
    return len(contacts)


def conflicts(operations: Iterable[Operation]) -> int:
    """How many claims were refused because another agent held the contact.

    Args:
        operations: In the order of their invokes.
    """
    return sum(op.f == "acquire" and op.code in _CONFLICT for op in operations)


_CONFLICT = frozenset({Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED})

COUNTED: Mapping[str, Count] = {
    "claims overlapped": lambda operations: overlapping(operations, "acquire"),
    "tries overlapped": lambda operations: overlapping(operations, "send"),
    "agents met": conflicts,
}
"""Windows read from the history itself, and how often each was entered."""


def _observed(history: History, operations: Iterable[Operation]) -> str:
    """What was seen, counted: grants, sends, refusals by code, what arrived."""
    codes: Counter[str] = Counter()
    for op in operations:
        if op.type is OpType.OK and op.f == "acquire":
            codes["lease granted"] += 1
        elif op.type is OpType.OK and op.f == "send":
            codes["replayed" if op.answer.get("replay") else "sent"] += 1
        elif op.code and op.type is not OpType.OK:
            codes[op.code] += 1
    codes["arrived"] = sum(isinstance(event, DeliveryEvent) for event in history)
    return ", ".join(f"{name} {count}" for name, count in codes.items())
