"""Every broken twin in the simulator, alone and behind what masks it (spec: the harness can fail).

A twin is caught if one of the five ways has a finding: the races, the listed programs in their order,
exhaustive search, random draws, PCT, by a rule that the twin names. Then come twins behind a layer
that hides them from somebody who only counts mail, and pairs of twins that hide each other
(see `pairs`): the rules must see through all of them.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, cycle, product

from ..contract import Target, UsageError
from ..judging import not_applicable, result_of
from ..scenario import REGISTRY, Scenario, Variant
from ..targets import load_target
from .catalogue import EXHAUSTIVE, PROGRAMS
from .choices import SILENT
from .driver import Bounds, Chooser
from .engine import SimulationEngine
from .explore import Explorer, Plan
from .fence import patched
from .pairs import BROKEN, MASKS
from .run import Runner
from .search import KINDS, search
from .strategies.pct import Pct
from .strategies.uniform import Uniform
from .subjects import POLICIES, parse

BOUNDS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Faults and deadlines of exhaustive search, widening."""
SWEEPS = (
    *(Bounds(),) * 3,
    *(Bounds(faults=faults, time_steps=2) for faults in (0, 1, 1, 2, 1, 1, 2, 1)),
)
"""How much may go wrong in each sweep over the listed programs."""
SELDOM = (("prog.ASXF.W", "plain", Bounds(faults=1, kinds=frozenset({SILENT}))),)
"""Searched first: a silent transport, and a look-up long after, seldom come together by chance."""
SEARCH_S_MAX = 2.0
"""Seconds for one subject under one policy and bound."""
WAYS = ("races", "programs", "exhaustive", "random", "pct")
REFERENCE = "leaserace.reference_impl.target:target"


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A broken twin, as the simulator sees it.

    Args:
        name: Its module's name.
        target: What to give as ``--target``.
        caught_by: Rules any of which must find it.
        policies: Policy variants to run it under; empty for all.
        masks: Layers that are on at the same time, for a pair.
    """

    name: str
    target: str
    caught_by: tuple[str, ...]
    policies: tuple[str, ...] = ()
    masks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """How one way came by a finding.

    Args:
        way: Which way.
        rules: Rules that found something; empty if none did.
        schedules: Runs until then.
        seconds: Seconds until then.
    """

    way: str
    rules: tuple[str, ...] = ()
    schedules: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One twin, all ways."""

    twin: Twin
    ways: Mapping[str, Caught] = field(default_factory=dict)

    @property
    def rules(self) -> set[str]:
        """Rules that found something, in any way."""
        return {rule for caught in self.ways.values() for rule in caught.rules}

    @property
    def is_caught(self) -> bool:
        """Whether any way had a finding of a rule that the twin names."""
        return bool(self.rules & set(self.twin.caught_by))

    @property
    def first(self) -> Caught | None:
        """The quickest way."""
        found = [caught for caught in self.ways.values() if caught.rules]
        return min(found, key=lambda caught: caught.seconds, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinCheck:
    """How long to look.

    Args:
        seconds: For each way of each twin that is not soon found, at most.
        soon_s: For each way at first; a twin that no way found by then is looked for anew.
        seed: Of all draws.
        reference_schedules: Runs of the reference that must come out clean.
    """

    seconds: float = 10.0
    soon_s: float = 1.0
    seed: int = 1
    reference_schedules: int = 2_000


def load_twins(names: Sequence[str]) -> list[Twin]:
    """The broken twins of these names, or all.

    Raises:
        UsageError: There is no such twin.
    """
    package = importlib.import_module(BROKEN)
    known = sorted(
        each.name
        for each in pkgutil.iter_modules(package.__path__)
        if each.name.startswith("without_")
    )
    for name in names:
        if name not in known:
            raise UsageError(f"no twin is called {name!r}; there are {', '.join(known)}")
    found = []
    for name in names or known:
        told = importlib.import_module(f"{BROKEN}.{name}").twin
        found.append(Twin(name=name, target=told.target, caught_by=tuple(told.caught_by)))
    return found


def masked(twins: Iterable[Twin]) -> list[Twin]:
    """Each twin that a layer can mask, with only that layer's policy on."""
    return [
        Twin(
            name=twin.name,
            target=twin.target,
            caught_by=twin.caught_by,
            policies=(MASKS[twin.name][0],),
            masks=MASKS[twin.name][1],
        )
        for twin in twins
        if twin.name in MASKS
    ]


def check(twin: Twin, how: TwinCheck, ways: Sequence[str] = WAYS) -> Row:
    """Look for a finding in every way, for a short while and then, if it escaped, for longer."""
    row = Row(twin=twin)
    for seconds in sorted({min(how.soon_s, how.seconds), how.seconds}):
        within = replace(how, seconds=seconds)
        row = Row(twin=twin, ways={way: _LOOK[way](twin, within) for way in ways})
        if row.is_caught:
            break
    return row


def _races(twin: Twin, how: TwinCheck) -> Caught:
    """The scripted races, until one has a finding."""
    begun = time.perf_counter()
    target = load_target(twin.target)
    runs = 0
    for scenario, variant in scripted(target):
        engine = SimulationEngine(target, seed=how.seed)
        run = engine.run(scenario, variant, agents=2)
        runs += run.rounds
        result, _ = result_of(run)
        if result.findings:
            return _caught("races", [each.rule for each in result.findings], runs, begun)
    return _caught("races", (), runs, begun)


def scripted(target: Target) -> list[tuple[Scenario, Variant]]:
    """Every registered race and variant the target can be put through."""
    for package in ("six", "beyond"):
        importlib.import_module(f"leaserace.scenarios.{package}")
    return [
        (scenario, variant)
        for scenario in REGISTRY
        for variant in scenario.variants
        if scenario.group in {"six", "beyond"} and not_applicable(scenario, variant, target) is None
    ]


def _programs(twin: Twin, how: TwinCheck) -> Caught:
    """Every listed program under every policy in turn, undisturbed and then with faults."""
    begun = time.perf_counter()
    rng = random.Random(f"{how.seed}")
    choosers: Iterator[Chooser] = cycle((Uniform(rng), Pct(rng)))
    runs = 0
    policies = twin.policies or tuple(POLICIES)
    with Runner(load_target(twin.target)) as runner, patched(runner.world):
        for bounds, text, policy in product(SWEEPS, reversed(PROGRAMS), policies):
            if time.perf_counter() - begun > how.seconds:
                break
            chooser = next(choosers)
            outcome = runner.run(parse(text), policy, chooser, bounds, coarse=True)
            runs += 1
            if outcome.findings:
                return _caught("programs", [each.rule for each in outcome.findings], runs, begun)
    return _caught("programs", (), runs, begun)


def _exhaustive(twin: Twin, how: TwinCheck) -> Caught:
    """Every schedule of the short subjects, under ever wider bounds."""
    begun = time.perf_counter()
    runs = 0
    policies = twin.policies or tuple(POLICIES)
    every = (
        (text, policy, Bounds(faults=faults, time_steps=time_steps, kinds=KINDS))
        for (faults, time_steps), text, policy in product(BOUNDS, EXHAUSTIVE, policies)
    )
    with Runner(load_target(twin.target)) as runner:
        for text, policy, bounds in chain(SELDOM, every):
            left_s = how.seconds - (time.perf_counter() - begun)
            if left_s <= 0:
                break
            result = search(runner, parse(text), policy, bounds, seconds=min(left_s, SEARCH_S_MAX))
            runs += result.schedules
            if result.found:
                rules = [each.rule for each in result.found[0].findings]
                return _caught("exhaustive", rules, runs, begun)
    return _caught("exhaustive", (), runs, begun)


def _drawn(way: str) -> Callable[[Twin, TwinCheck], Caught]:
    def look(twin: Twin, how: TwinCheck) -> Caught:
        plan = Plan(
            target=twin.target,
            strategy=way,
            seconds=how.seconds,
            seed=how.seed,
            policies=twin.policies,
        )
        found = Explorer(load_target(twin.target), plan).run()
        rules = found.hits[0].rules if found.hits else ()
        seconds = found.hits[0].seconds if found.hits else found.seconds
        return Caught(way=way, rules=tuple(rules), schedules=found.schedules, seconds=seconds)

    return look


def _caught(way: str, rules: Iterable[str], schedules: int, begun: float) -> Caught:
    return Caught(
        way=way,
        rules=tuple(dict.fromkeys(rules)),
        schedules=schedules,
        seconds=time.perf_counter() - begun,
    )


_LOOK: Mapping[str, Callable[[Twin, TwinCheck], Caught]] = {
    "races": _races,
    "programs": _programs,
    "exhaustive": _exhaustive,
    "random": _drawn("random"),
    "pct": _drawn("pct"),
}


def reference_is_clean(how: TwinCheck) -> Caught:
    """What rules say of the reference: nothing, or the harness is wrong."""
    races = _races(Twin(name="reference", target=REFERENCE, caught_by=()), how)
    if races.rules:
        return races
    plan = Plan(target=REFERENCE, schedules=how.reference_schedules, seed=how.seed)
    found = Explorer(load_target(REFERENCE), plan).run()
    rules = found.hits[0].rules if found.hits else ()
    return Caught(way="all", rules=tuple(rules), schedules=found.schedules, seconds=found.seconds)
