"""Two runs side by side: which verdicts, rates and waits changed, and by how much for certain.

A rate has changed if the interval of the difference (Newcombe) leaves zero out; a wait, if the
intervals of its quantile in the two runs do not touch. Chance alone moves everything a little: what is
inside the intervals is not said to have changed.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist

from .contract import UsageError
from .history import InvalidHistory, Operation, OpEvent, OpType, Pairer
from .lines import Lines
from .outcome import Contention, InvalidOutcome, RunOutcome
from .verdict import RaceResult, Verdict, newcombe_interval, wilson_interval

VERDICT_FILE = "verdict.json"
HISTORY_FILE = "history.jsonl"
QUANTILES = (0.5, 0.95)
SAMPLES_MIN = 30
"""Fewer waits have no interval worth the name."""
CONFIDENCE = 0.95
_RANK = {
    Verdict.VALID: 0,
    Verdict.NOT_APPLICABLE: 1,
    Verdict.NOT_RUN: 1,
    Verdict.UNKNOWN: 1,
    Verdict.INVALID: 2,
}

Key = tuple[str, str, int]
"""Scenario, variant and number of agents of a race."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that was read back.

    Args:
        name: What it is called.
        outcome: Its verdict.
        waits_ns: Number of agents to how long each grant was waited for.
    """

    name: str
    outcome: RunOutcome
    waits_ns: Mapping[int, array[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is not as it was.

    Args:
        what: Of what, such as ``verdict of stale_token[call under way]/2``.
        before, after: As it was, as it is.
        interval: Of the difference or the ratio, in words; "" for a verdict.
        grade: ``regression``, ``unknown``, ``better`` or ``changed``.
    """

    what: str
    before: str
    after: str
    grade: str
    interval: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs, compared.

    Args:
        before, after: Their names.
        differences: What differed between the runs from the start: target, agents, policy, versions.
        changes: What came out differently.
        same: How many things were compared and had not changed.
    """

    before: str
    after: str
    differences: tuple[str, ...]
    changes: tuple[Change, ...]
    same: int

    def count(self, grade: str) -> int:
        """How many changes are of this grade."""
        return sum(change.grade == grade for change in self.changes)

    @property
    def verdict(self) -> Verdict:
        """Invalid with a regression, unknown where something was valid and can't be told any more."""
        if self.count("regression"):
            return Verdict.INVALID
        return Verdict.UNKNOWN if self.count("unknown") else Verdict.VALID


def read(path: Path, *, waits: bool = True) -> Run:
    """Read a run back.

    Args:
        path: Its folder, a ``latest`` that leads to one, or a ``verdict.json``.
        waits: Whether its history is read for waits, where it has one.

    Raises:
        UsageError: There is no run.
    """
    folder = path
    if path.is_file() and path.suffix != ".json":
        folder = path.parent / path.read_text(encoding="utf-8", errors="replace").strip()[:200]
    file = folder / VERDICT_FILE if folder.is_dir() else folder
    try:
        outcome = RunOutcome.from_json(file.read_bytes(), str(file))
    except OSError as error:
        raise UsageError(
            f"{str(path)!r} is no run: give its folder or its {VERDICT_FILE} ({error.strerror})"
        ) from error
    except InvalidOutcome as error:
        raise UsageError(str(error)) from error
    history = file.parent / HISTORY_FILE
    found = _waits(history, outcome) if waits and history.is_file() else {}
    return Run(name=str(path), outcome=outcome, waits_ns=found)


def _waits(history: Path, outcome: RunOutcome) -> dict[int, array[int]]:
    """How long each grant was waited for, from the first ask that was refused, by number of agents."""
    agents = {race.race: race.agents for race in outcome.races}
    pairers: dict[str, Pairer] = defaultdict(Pairer)
    asked: dict[tuple[str, str, str], int] = {}
    waits: dict[int, array[int]] = defaultdict(lambda: array("q"))
    try:
        for event in Lines(history):
            if isinstance(event, OpEvent) and event.f == "acquire":
                op = pairers[event.race].feed(event)
                waited_ns = _waited(op, asked)
                if waited_ns is not None:
                    waits[agents.get(event.race, 0)].append(waited_ns)
    except InvalidHistory as error:
        raise UsageError(f"{history}: {error}") from error
    return dict(waits)


def _waited(op: Operation, asked: dict[tuple[str, str, str], int]) -> int | None:
    if op.completed_ns is None:
        return None
    key = (op.race, op.agent, op.contact)
    since_ns = asked.setdefault(key, op.invoked_ns)
    if op.type is not OpType.OK:
        return None
    del asked[key]
    return op.completed_ns - since_ns


def compare(before: Run, after: Run, *, tolerance: float = 0.25) -> Comparison:
    """Compare two runs.

    Args:
        before: The one to compare with.
        after: The new one.
        tolerance: By which share a wait may grow, beyond its interval, before it is a regression.
    """
    told: list[Change | None] = [
        *_verdicts(before.outcome, after.outcome),
        *_harm(before.outcome, after.outcome),
        *_contention(before.outcome, after.outcome),
        *_waiting(before, after, tolerance),
    ]
    changes = [change for change in told if change is not None]
    order = ("regression", "unknown", "changed", "better")
    return Comparison(
        before=before.name,
        after=after.name,
        differences=tuple(_differences(before.outcome, after.outcome)),
        changes=tuple(sorted(changes, key=lambda change: order.index(change.grade))),
        same=len(told) - len(changes),
    )


def _differences(before: RunOutcome, after: RunOutcome) -> Iterator[str]:
    pairs = {
        "command": (before.command, after.command),
        "target": (before.target, after.target),
        "agents": tuple("..".join(map(str, each.agents)) for each in (before, after)),
        "seed": (before.seed, after.seed),
    }
    for kind in ("policy", "versions"):
        old, new = getattr(before, kind), getattr(after, kind)
        for name in sorted({*old, *new}):
            pairs[f"{kind.removesuffix('s')} {name}"] = (old.get(name), new.get(name))
    for name, (one, two) in pairs.items():
        if one != two:
            yield f"{name}: {one} before, {two} now"


# -- verdicts ----------------------------------------------------------------------------------


def _verdicts(before: RunOutcome, after: RunOutcome) -> Iterator[Change | None]:
    old, new = _by_key(before.races), _by_key(after.races)
    for key in dict.fromkeys([*old, *new]):
        yield _verdict(key, old.get(key), new.get(key))


def _by_key(races: Iterable[RaceResult]) -> dict[Key, Verdict]:
    found: dict[Key, list[Verdict]] = defaultdict(list)
    for race in races:
        found[race.scenario, race.variant, race.agents].append(race.verdict)
    return {key: Verdict.merge(verdicts) for key, verdicts in found.items()}


def _verdict(key: Key, old: Verdict | None, new: Verdict | None) -> Change | None:
    scenario, variant, agents = key
    what = f"verdict of {scenario}" + (f"[{variant}]" if variant else "")
    what += f" with {agents} agents" if agents else ""
    if old is new:
        return None
    if old is None:
        grade = "regression" if new is Verdict.INVALID else "changed"
    elif new is None:
        grade = "unknown" if old is Verdict.VALID else "changed"
    elif _RANK[new] == _RANK[old]:
        grade = "changed"
    elif _RANK[new] < _RANK[old]:
        grade = "better"
    else:
        grade = "regression" if new is Verdict.INVALID else "unknown"
    return Change(what=what, before=str(old or "not run"), after=str(new or "not run"), grade=grade)


# -- rates -------------------------------------------------------------------------------------

_HARM: Mapping[str, Callable[[RaceResult], int]] = {
    "duplicates": lambda race: race.duplicates,
    "double contacts": lambda race: race.double_contacts,
    "late hand-overs": lambda race: race.late_hand_overs,
}


def _harm(before: RunOutcome, after: RunOutcome) -> Iterator[Change | None]:
    """Rates of what should not have arrived, scenario by scenario."""
    scenarios = dict.fromkeys(race.scenario for race in (*before.races, *after.races))
    for scenario in scenarios:
        for name, count in _HARM.items():
            old = _rate(before, scenario, count)
            new = _rate(after, scenario, count)
            if old and new and (old[0] or new[0]):
                worse = "changed" if name.startswith("late") else "regression"
                yield _rate_change(f"{name} in {scenario}", old, new, worse=worse)


def _rate(
    outcome: RunOutcome, scenario: str, count: Callable[[RaceResult], int]
) -> tuple[int, int] | None:
    races = [race for race in outcome.races if race.scenario == scenario]
    rounds = sum(race.rounds for race in races)
    return (min(rounds, sum(map(count, races))), rounds) if rounds else None


def _contention(before: RunOutcome, after: RunOutcome) -> Iterator[Change | None]:
    """Share of the claims that met a conflict, by number of agents."""
    old, new = _pooled(before.contention), _pooled(after.contention)
    for agents in sorted(old.keys() & new.keys()):
        what = f"claims that met a conflict, {agents} agents"
        yield _rate_change(what, old[agents], new[agents], worse="changed")


def _pooled(rounds: Iterable[Contention]) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for each in rounds:
        conflicts, attempts = found.get(each.agents, (0, 0))
        found[each.agents] = (
            conflicts + min(each.conflicts, each.attempts),
            attempts + each.attempts,
        )
    return {agents: rate for agents, rate in found.items() if rate[1]}


def _rate_change(
    what: str, old: tuple[int, int], new: tuple[int, int], *, worse: str
) -> Change | None:
    low, high = newcombe_interval(old, new, CONFIDENCE)
    if low <= 0.0 <= high:
        return None
    return Change(
        what=what,
        before=_rate_words(old),
        after=_rate_words(new),
        grade=worse if low > 0 else ("better" if worse == "regression" else "changed"),
        interval=f"{_points(low)} to {_points(high)} percentage points",
    )


def _rate_words(rate: tuple[int, int]) -> str:
    low, high = wilson_interval(*rate, CONFIDENCE)
    share = rate[0] / rate[1]
    return f"{rate[0]:,} of {rate[1]:,} ({share:.2%}, {low:.2%} to {high:.2%})"


def _points(share: float) -> str:
    return f"{100 * share:+.2f}"


# -- waits -------------------------------------------------------------------------------------


def _waiting(before: Run, after: Run, tolerance: float) -> Iterator[Change | None]:
    for agents in sorted(before.waits_ns.keys() & after.waits_ns.keys()):
        old, new = sorted(before.waits_ns[agents]), sorted(after.waits_ns[agents])
        if min(len(old), len(new)) < SAMPLES_MIN:
            continue
        for share in QUANTILES:
            yield _wait_change(
                f"{share:.0%} of waits for a lease, {agents} agents", old, new, share, tolerance
            )


def _wait_change(
    what: str, old: list[int], new: list[int], share: float, tolerance: float
) -> Change | None:
    low1, middle1, high1 = quantile_interval(old, share)
    low2, middle2, high2 = quantile_interval(new, share)
    if low2 <= high1 and low1 <= high2:
        return None
    if low2 > high1 * (1.0 + tolerance):
        grade = "regression"
    else:
        grade = "changed" if low2 > high1 else "better"
    return Change(
        what=what,
        before=f"{middle1 / 1e6:,.2f} ms ({low1 / 1e6:,.2f} to {high1 / 1e6:,.2f})",
        after=f"{middle2 / 1e6:,.2f} ms ({low2 / 1e6:,.2f} to {high2 / 1e6:,.2f})",
        grade=grade,
        interval=f"{low2 / max(high1, 1):.2f} to {high2 / max(low1, 1):.2f} times as long",
    )


def quantile_interval(values: list[int], share: float) -> tuple[int, int, int]:
    """A quantile of sorted values, between two of them that the true one lies between at 95 %.

    Args:
        values: Sorted, at least one.
        share: Which quantile, between 0 and 1.
    """
    count = len(values)
    spread = NormalDist().inv_cdf((1.0 + CONFIDENCE) / 2.0) * math.sqrt(count * share * (1 - share))
    low = max(0, math.floor(count * share - spread) - 1)
    high = min(count - 1, math.ceil(count * share + spread))
    return values[low], values[min(count - 1, int(count * share))], values[high]


__all__ = ["Change", "Comparison", "Run", "compare", "quantile_interval", "read"]
