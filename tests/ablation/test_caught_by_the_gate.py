"""Every twin of the gate is caught on real processes, by the rule its docstring names."""

from __future__ import annotations

from pathlib import Path

import pytest

import leaserace.scenarios.six  # noqa: F401 - it registers the races
from leaserace.harness.judging import result_of
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import REGISTRY
from leaserace.harness.verdict import Verdict
from leaserace.reference_impl.broken import twins

pytestmark = pytest.mark.process

SHOWN_BY = {
    "without_case_folding": ("two_spellings", "one after the other"),
    "without_domain_alias": ("two_spellings", "aliases"),
    "without_fencing_check": ("stale_token", "before the call"),
    "without_expiry_check": ("stale_token", "nobody else came"),
    "without_store_clock": ("skewed_renewal", "ahead, before expiry"),
    "without_renewal_limit": ("stale_token", "a stale renewal and release"),
    "without_release_owner": ("stale_token", "a stale renewal and release"),
    "without_atomic_acquire": ("two_spellings", "between read and grant"),
    "without_atomic_send": ("stale_token", "between checks and record"),
    "without_suppression_at_send": ("suppressed_while_leased", "by another agent"),
    "without_cooldown_after_release": ("cooldown_after_delivery", "handed on"),
    "without_shared_cooldown": ("cooldown_after_delivery", "handed on"),
    "without_key_before_delivery": ("retry_after_timeout", "between hand-over and record"),
    "without_atomic_key": ("retry_after_timeout", "between key and record"),
    "without_fingerprint": ("retry_after_timeout", "same key, other payload"),
    "without_original_answer": ("retry_after_timeout", "same key, other payload"),
    "without_key_after_failure": ("retry_after_timeout", "SMTP took it, its reply lost"),
    "without_unknown_state": ("retry_after_timeout", "SMTP took it, its reply lost"),
    "without_delivery": ("retry_after_timeout", "reply lost"),
    # Of the simulator's twins these show in the six races as well.
    "without_renewal_from_now": ("skewed_renewal", "ahead, before expiry"),
    "without_token_kept_at_renewal": ("skewed_renewal", "ahead, before expiry"),
    "without_release_token": ("stale_token", "a stale renewal and release"),
    "without_suppression_before_release": ("suppressed_while_leased", "by another agent"),
    "without_shared_keys": ("retry_after_timeout", "reply lost"),
    "without_replay_first": ("retry_after_timeout", "reply lost, cooldown on"),
    # And of those around the send.
    "without_audit_state": ("two_spellings", "one after the other"),
    "without_lasting_counter": ("cooldown_after_delivery", "handed on"),
    "without_lookup_of_unknown": ("retry_after_timeout", "SMTP took it, its reply lost"),
    "without_second_look": ("stale_token", "between record and hand-over"),
    "without_shared_load": ("cooldown_after_delivery", "handed on"),
}
"""Twin to the race, and the variant of it, that shows it soonest."""
KNOWN = {twin.name: twin for twin in twins()}


@pytest.mark.parametrize("name", SHOWN_BY)
def test_the_missing_safeguard_is_found_by_its_rule(name: str, tmp_path: Path) -> None:
    twin = KNOWN[name]
    scenario_id, variant_name = SHOWN_BY[name]
    scenario = REGISTRY.get(scenario_id)
    assert scenario is not None
    variant = next(each for each in scenario.variants if each.name == variant_name)
    with ProcessEngine(twin.target, tmp_path, seed=7) as engine:
        result, _ = result_of(engine.run(scenario, variant, agents=2))
    found = {finding.rule for finding in result.findings}
    assert result.verdict is Verdict.INVALID, result.reason
    assert found & set(twin.caught_by), found
