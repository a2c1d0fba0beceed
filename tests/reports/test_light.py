"""Reports bring nothing heavy in until it is needed."""

import subprocess
import sys

import pytest

HEAVY = ("pandas", "numpy", "matplotlib", "rich", "junitparser", "pyarrow")


@pytest.mark.process
@pytest.mark.parametrize("module", ["files", "show", "commands", "rebuild", "page", "frames"])
def test_importing_a_report_loads_nothing_heavy(module: str) -> None:
    """So that the command line stays quick and agents' processes small."""
    code = (
        f"import sys, leaserace.reports.{module}; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.process
def test_a_green_page_is_made_without_pandas_and_matplotlib() -> None:
    """Each gate writes it."""
    code = (
        "import sys; from tests.reports.samples import passing, stale_token; "
        "from leaserace.reports.page import report_html; "
        "from leaserace.reports.picture import pictures; "
        "report_html(passing(), pictures(stale_token())); "
        "print([name for name in ('pandas', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
