"""A lint without one of its checks still makes the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness.contract import Code, Refused
from leaserace.reference_impl.broken.without_injection_check import CredulousLint
from leaserace.reference_impl.broken.without_lint_first import target as late_lint
from leaserace.reference_impl.broken.without_one_recipient import GenerousLint
from leaserace.reference_impl.identity import Identity
from leaserace.reference_impl.lint import HEADER_LENGTH_MAX, Lint, LintCode
from tests.ablation.bench import A, Bench
from tests.reference_impl.desk import SHORT
from tests.reference_impl.test_lint import GOOD

LONG = "x" * (HEADER_LENGTH_MAX + 1)


@pytest.mark.parametrize("kind", [CredulousLint, GenerousLint])
def test_another_fault_of_a_header_is_still_named(kind: type[Lint]) -> None:
    """spec: O6."""
    lint = kind(policy=SHORT, identity=Identity(SHORT.addresses))
    message = replace(GOOD, headers={"X-Team": LONG})
    assert LintCode.HEADER_TOO_LONG in {fault.code for fault in lint.faults(message)}


def test_a_late_lint_still_needs_a_recipient() -> None:
    """spec: O6: without one there is nobody to look a key up for."""
    answer = Bench(late_lint).box(A).send(replace(GOOD, to="nobody"))
    assert isinstance(answer, Refused)
    assert answer.code in {Code.INVALID_MESSAGE, Code.INVALID_ADDRESS}
