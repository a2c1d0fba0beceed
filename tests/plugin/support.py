"""What the plugin's tests share: the options that load it, and targets to test."""

from __future__ import annotations

import shutil
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from leaserace.harness.commands import load_scenarios

FILES = {"inbox.py": "toy.py", "outbox.py": "process_targets.py"}
"""Toys: one for the simulator, one whose store is a file, for real processes."""
SUPPORT = Path(__file__).parents[1] / "support"
LOADED = any(entry.name == "leaserace" for entry in entry_points(group="pytest11"))
PLUGIN = () if LOADED else ("-p", "leaserace.harness.pytest_plugin")
"""Loads the plugin where the package is imported from its sources."""
QUIET = [f"no:{name}" for name in ("benchmark", "cacheprovider", "hypothesispytest")]
COMMON = (*PLUGIN, *(part for name in QUIET for part in ("-p", name)), "--leaserace-seed", "7")

ITEMS = sum(len(each.variants) for each in load_scenarios() if each.group in ("six", "beyond"))
"""How many items the registered scenarios are: one a variant."""

OWN = '''
from leaserace.harness import Capability, Code, Lease, Settings, Variant, scenario


@scenario(
    number=50,
    title="two tabs of one person",
    spec=["L3"],
    expected="one tab holds the contact",
    needs={Capability.LEASE},
    settings=Settings(lease_s=0.3),
    variants=(Variant(name="at once"), Variant(name="in turn")),
)
def two_tabs(race):
    """Both claim one contact."""
    person = race.contact()
    if race.variant == "at once":
        answers = race.together(*(agent.later.acquire(person) for agent in race.agents[:2]))
    else:
        answers = [agent.acquire(person) for agent in race.agents[:2]]
    race.require("leases", wanted=1, observed=sum(isinstance(a, Lease) for a in answers))
'''
"""A user's own scenario."""


def run(
    pytester: pytest.Pytester, *options: str, target: str | None = "inbox:toy", apart: bool = False
) -> pytest.RunResult:
    """Run pytest in the folder, which gets the toys as ``inbox.py`` and ``outbox.py``."""
    for name, toy in FILES.items():
        shutil.copy(SUPPORT / toy, pytester.path / name)
    named = ("--leaserace-target", target) if target else ()
    arguments = (*COMMON, *named, *options)
    if apart:
        return pytester.runpytest_subprocess(*arguments)
    return pytester.runpytest_inprocess(*arguments)
