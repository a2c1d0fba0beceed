"""What is slow to import stays out of the way until it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("pandas", "matplotlib", "numpy", "hypothesis", "rich", "freezegun", "aiosmtpd")


@pytest.mark.parametrize(
    "module",
    [
        "leaserace.harness",
        "leaserace.harness.cli",
        "leaserace.harness.rules",
        "leaserace.scenarios.six",
    ],
)
def test_a_light_module_pulls_in_nothing_heavy(module: str) -> None:
    code = f"import sys, {module};print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
