"""Exhaustive search over several subjects and policies, with its bound in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from ..contract import Target
from .choices import NAMES
from .driver import Bounds
from .run import Runner
from .schedule import code_hash
from .search import KINDS, SearchResult, search
from .subjects import parse

EXIT_FOUND, EXIT_UNKNOWN = 1, 4
NOT_TRIED = "a busy store, a refusing transport, clocks that step back, time inside a transaction"
"""What lies outside every bound; the other strategies draw it."""


def exhaust(
    target: Target,
    *,
    subjects: Iterable[str],
    policies: Iterable[str],
    bounds: Bounds,
    seconds: float | None,
    schedules: int | None,
    policy_file: Path | None,
    show: Callable[[SearchResult], None],
) -> int:
    """Search every subject under every policy; the exit status of it all.

    Args:
        target: The system under test.
        subjects: What runs.
        policies: Policy variants.
        bounds: How much may go wrong.
        seconds: For all searches together.
        schedules: For each search.
        policy_file: A policy file of the user's, or None.
        show: Given each result.
    """
    ends = None if seconds is None else time.perf_counter() + seconds
    status = 0
    with Runner(target, policy_file=policy_file) as runner:
        for text, policy in product(subjects, policies):
            left_s = None if ends is None else ends - time.perf_counter()
            if left_s is not None and left_s <= 0:
                break
            result = search(
                runner,
                parse(text),
                policy,
                replace(bounds, kinds=KINDS),
                stop_at_finding=False,
                schedules=schedules,
                seconds=left_s,
            )
            result.code = code_hash(target)
            show(result)
            if result.found:
                status = EXIT_FOUND
            elif result.problems and not status:
                status = EXIT_UNKNOWN
    return status


def bound_of(result: SearchResult) -> str:
    """The bound in words."""
    bounds = result.bounds
    agents = len(parse(result.subject).seats)
    kinds = ", ".join(NAMES[kind] for kind in sorted(bounds.kinds))
    return (
        f"bound {agents} agents, {bounds.faults} fault{'' if bounds.faults == 1 else 's'} ({kinds}), "
        f"time to {bounds.time_steps} deadline{'' if bounds.time_steps == 1 else 's'}, "
        f"{result.calls_max} calls; not tried: {NOT_TRIED}"
    )


def to_json(result: SearchResult) -> dict[str, Any]:
    """The result as JSON."""
    return {
        "subject": result.subject,
        "policy": result.policy,
        "faults": result.bounds.faults,
        "deadlines": result.bounds.time_steps,
        "calls": result.calls_max,
        "schedules": result.schedules,
        "states": result.states,
        "pruned": result.pruned,
        "asleep": result.asleep,
        "exhausted": result.exhausted,
        "seconds": result.seconds,
        "findings": [each.findings[0].rule for each in result.found],
        "problems": result.problems,
    }
