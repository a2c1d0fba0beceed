"""What is said at the end of a session with races in it."""

from __future__ import annotations

import importlib
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ..history import History
from ..verdict import Verdict
from .bench import LIGHT


def raced(config: pytest.Config) -> list[dict[str, str]]:
    """What the items said of themselves: ``leaserace_verdict``, ``leaserace_run``."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return []
    said = [
        dict(report.user_properties)
        for group in reporter.stats.values()
        for report in group
        if getattr(report, "when", "") == "call"
    ]
    return [each for each in said if "leaserace_verdict" in each]


def applied_nowhere(session: pytest.Session) -> bool:
    """Whether the session was nothing but races, and none could be run against this target."""
    verdicts = [each["leaserace_verdict"] for each in raced(session.config)]
    only_races = len(verdicts) == session.testscollected
    return only_races and set(verdicts) == {str(Verdict.NOT_APPLICABLE)}


def summary(said: Sequence[Mapping[str, str]], folder: str) -> list[str]:
    """How many races came out how, and where everything recorded is."""
    counted = Counter(each["leaserace_verdict"] for each in said)
    lines = [", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))]
    if any("leaserace_run" in each for each in said):
        lines.append(f"run folder: {folder}")
    return lines


def merge(config: pytest.Config) -> None:
    """Write the outcome of all races of the session into the run's folder."""
    said = raced(config)
    folders = sorted({Path(each["leaserace_run"]) for each in said if "leaserace_run" in each})
    if not folders:
        return
    files = importlib.import_module("leaserace.reports.files")
    runs = [(folder.name, *files.read_run(folder)) for folder in folders]
    races = tuple(replace(run.races[0], race=name) for name, run, _ in runs)
    first, folder = runs[0][1], folders[0].parent
    whole = replace(
        first,
        agents=(min(r.agents for r in races), max(r.agents for r in races)),
        verdict=Verdict.merge(each.verdict for each in races),
        races=races,
        again=shlex.join(
            ["pytest", "--leaserace-target", first.target, "--leaserace-seed", str(first.seed)]
        ),
        elapsed_s=sum(run.elapsed_s for _, run, _ in runs),
        notices=tuple(notice for _, run, _ in runs for notice in run.notices),
    )
    events = (
        msgspec.structs.replace(event, race=name) for name, _, history in runs for event in history
    )
    files.write_all(whole, History(events), folder, only=LIGHT)
