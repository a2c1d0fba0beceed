"""The races beyond the six: valid on the reference, and each of them able to fail."""

from __future__ import annotations

import importlib
import itertools
import re
from pathlib import Path

import pytest

import leaserace.scenarios.beyond  # noqa: F401 - it registers the races
from leaserace.harness.contract import Target
from leaserace.harness.judging import result_of
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import REGISTRY, Scenario, Variant
from leaserace.harness.simulation.engine import SimulationEngine
from leaserace.harness.targets import load_target
from leaserace.harness.verdict import RaceResult, Verdict
from tests.support.beyond_targets import LACKING

REFERENCE = "leaserace.reference_impl.target:target"
BROKEN = "leaserace.reference_impl.broken"
SCENARIOS = {each.id: each for each in REGISTRY if each.group == "beyond"}
RACES = [(each.id, variant.name) for each in SCENARIOS.values() for variant in each.variants]

CAUGHT = [
    ("same_key_in_flight", "key looked up", "without_atomic_key", "sends.once"),
    ("same_key_in_flight", "about to be handed over", "without_key_before_delivery", "sends.once"),
    ("same_key_in_flight", "by another agent", "without_shared_keys", "scenario.expected"),
    (
        "same_key_in_flight",
        "by another agent",
        "without_original_answer",
        "keys.replay_is_original",
    ),
    (
        "foreign_release",
        "after an own release",
        "without_release_owner",
        "leases.release_by_holder",
    ),
    ("foreign_release", "delayed on its way", "without_release_token", "leases.one_live"),
    (
        "foreign_release",
        "by a bystander with a guess",
        "without_release_token",
        "leases.release_by_holder",
    ),
    (
        "foreign_release",
        "by a bystander with the token",
        "without_owner_check",
        "leases.release_by_holder",
    ),
    ("late_renewal", "nobody came", "without_renewal_limit", "leases.renewal_holds"),
    ("late_renewal", "renewed in time", "without_renewal_from_now", "leases.renewal_holds"),
    ("late_renewal", "renewed in time", "without_token_kept_at_renewal", "leases.renewal_holds"),
    ("crash_after_hand_over", "handed over", "without_dispatching_state", "sends.once"),
    ("crash_after_hand_over", "handed over", "without_key_before_delivery", "sends.once"),
    (
        "crash_after_hand_over",
        "about to be handed over",
        "without_dispatching_state",
        "scenario.expected",
    ),
    ("checked_at_once", "at once", "without_cooldown_reservation", "cooldown.binds_all"),
    ("checked_at_once", "between checks and record", "without_atomic_send", "cooldown.binds_all"),
    (
        "checked_at_once",
        "about to be handed over",
        "without_cooldown_reservation",
        "cooldown.binds_all",
    ),
    ("one_person_many_forms", "domain alias", "without_domain_alias", "leases.one_live"),
    ("one_person_many_forms", "plus tag", "without_tag_folding", "leases.one_live"),
    ("one_person_many_forms", "dots", "without_dot_folding", "leases.one_live"),
    ("one_person_many_forms", "punycode", "without_one_domain_form", "leases.one_live"),
    ("one_person_many_forms", "composed letters", "without_composed_letters", "leases.one_live"),
    ("one_person_many_forms", "trailing dot", "without_case_folding", "leases.one_live"),
    ("one_person_many_forms", "display name", "without_case_folding", "leases.one_live"),
    ("one_key_one_payload", "another body", "without_fingerprint", "keys.payload_bound"),
    ("one_key_one_payload", "another subject", "without_fingerprint", "keys.payload_bound"),
    ("one_key_one_payload", "another person", "without_fingerprint", "keys.payload_bound"),
    ("one_key_one_payload", "by another agent", "without_fingerprint", "keys.payload_bound"),
    *(
        ("one_key_one_payload", "another person, same words", twin, "keys.payload_bound")
        for twin in ("without_fingerprint", "without_recipient_in_fingerprint")
    ),
    ("loser_cleans_up", "of a contact", "without_claim_protection", "leases.one_live"),
    ("loser_cleans_up", "of a key", "without_key_before_delivery", "sends.once"),
    (
        "claim_left_by_crash",
        "of a contact",
        "without_fencing_check",
        "tokens.stale_never_sends",
    ),
    ("claim_left_by_crash", "of a key", "without_window_for_retry", "sends.once"),
    ("claim_left_by_crash", "of a key", "without_end_of_claims", "scenario.expected"),
    ("failure_keeps_the_key", "after the effect", "without_key_after_failure", "sends.once"),
    ("failure_keeps_the_key", "after the effect", "without_unknown_state", "sends.once"),
    ("failure_keeps_the_key", "after the effect", "without_key_before_delivery", "sends.once"),
    (
        "failure_keeps_the_key",
        "before the effect",
        "without_retry_after_refusal",
        "scenario.expected",
    ),
    ("failure_keeps_the_key", "before the effect", "without_refusal_by_receiver", "sends.arrived"),
    ("counter_outlives_rows", "released", "without_lasting_counter", "tokens.rise"),
    ("counter_outlives_rows", "expired", "without_fencing_check", "tokens.stale_never_sends"),
    ("renewal_failed", "stopped", "without_expiry_check", "leases.live_at_send"),
    ("renewal_failed", "failed", "without_renewal_limit", "leases.renewal_holds"),
    (
        "renewal_failed",
        "hung while another took over",
        "without_fencing_check",
        "tokens.stale_never_sends",
    ),
    ("run_replayed", "by another agent", "without_shared_keys", "sends.once"),
    ("run_replayed", "after a crash", "without_original_answer", "keys.replay_is_original"),
    ("reworded_retry", "key of the step", "without_fingerprint", "keys.payload_bound"),
    (
        "reworded_retry",
        "key of the words",
        "without_cooldown_after_release",
        "cooldown.binds_all",
    ),
    ("key_window", "inside", "without_window_for_retry", "keys.replay_is_original"),
    ("late_event", "bounce", "without_event_order", "scenario.expected"),
    ("late_event", "the opt-out told again", "without_event_order", "scenario.expected"),
    ("late_event", "clearing", "without_event_order", "suppression.wins"),
    ("late_event", "clearing", "without_suppression_before_release", "suppression.wins"),
    ("listed_in_another_case", "upper case entry", "without_case_folding", "suppression.wins"),
    ("listed_in_another_case", "lower case entry", "without_case_folding", "suppression.wins"),
    ("listed_in_another_case", "alias entry", "without_domain_alias", "suppression.wins"),
    ("opt_out_against_send", "at once", "without_atomic_send", "suppression.wins"),
    (
        "opt_out_against_send",
        "before its checks",
        "without_suppression_at_send",
        "suppression.wins",
    ),
    (
        "opt_out_against_send",
        "already handed over",
        "without_suppression_at_send",
        "suppression.wins",
    ),
    ("fan_out_partly_failed", "one not answered", "without_unknown_state", "sends.once"),
    ("fan_out_partly_failed", "one not answered", "without_key_after_failure", "sends.once"),
    ("fan_out_partly_failed", "one refused", "without_retry_after_refusal", "scenario.expected"),
    ("fan_out_partly_failed", "one key for all", "without_fingerprint", "keys.payload_bound"),
    ("grant_after_its_end", "nobody else came", "without_expiry_check", "scenario.expected"),
    ("grant_after_its_end", "nobody else came", "without_renewal_limit", "leases.renewal_holds"),
    (
        "grant_after_its_end",
        "another took over",
        "without_fencing_check",
        "tokens.stale_never_sends",
    ),
    ("drifting_key", "case", "without_key_normalisation", "sends.once"),
    ("drifting_key", "white space", "without_key_normalisation", "scenario.expected"),
    ("drifting_key", "dashes", "without_cooldown_after_release", "scenario.expected"),
    (
        "fresh_key_per_call",
        "time of the call",
        "without_cooldown_after_release",
        "scenario.expected",
    ),
    ("fresh_key_per_call", "fresh UUID", "without_cooldown_after_release", "scenario.expected"),
    ("fresh_key_per_call", "new run id", "without_shared_cooldown", "scenario.expected"),
    ("rotated_credential", "reply lost", "without_shared_keys", "sends.once"),
    ("rotated_credential", "replied", "without_original_answer", "keys.replay_is_original"),
    (
        "opt_out_before_release",
        "by the holder",
        "without_suppression_before_release",
        "suppression.wins",
    ),
    (
        "opt_out_before_release",
        "by its replica",
        "without_suppression_before_release",
        "suppression.wins",
    ),
    (
        "override_skips_cooldown",
        "by a person",
        "without_cooldown_after_release",
        "cooldown.binds_all",
    ),
    (
        "override_skips_cooldown",
        "by the agent itself",
        "without_shared_cooldown",
        "cooldown.binds_all",
    ),
    *(
        ("override_skips_cooldown", "by a person", twin, "cooldown.binds_all")
        for twin in ("without_end_of_override", "without_cooldown_under_override")
    ),
    ("override_skips_cooldown", "by the agent itself", "without_persons", "people.decide"),
    ("busy_store", "held by a claim", "without_busy_answer", "suppression.wins"),
    *(
        ("cooldown_of_unknown", "not answered", twin, "cooldown.no_double_contact")
        for twin in ("without_cooldown_after_unknown", "without_shared_cooldown")
    ),
    ("cooldown_of_unknown", "surely refused", "without_freed_cooldown", "refusals.explained"),
    *(
        ("override_and_suppression", name, "without_suppression_over_override", "suppression.wins")
        for name in ("listed, then overridden", "overridden, then listed", "inside a cooldown")
    ),
    ("contact_load", "one spelling", "without_cooldown_after_release", "scenario.expected"),
    ("contact_load", "in other spellings", "without_case_folding", "contacts.one_key"),
    ("contact_load", "by other channels", "without_shared_load", "leases.load_counted"),
    *(
        ("clash_of_refusals", f"list and {other}", twin, "scenario.expected")
        for other, twin in (
            ("stale token", "without_suppression_at_send"),
            ("stale token", "without_fencing_check"),
            ("expired lease", "without_expiry_check"),
            ("cooldown", "without_suppression_before_release"),
        )
    ),
    ("clash_of_refusals", "stale token and cooldown", "without_fencing_check", "scenario.expected"),
    (
        "clash_of_refusals",
        "expired lease and cooldown",
        "without_expiry_check",
        "scenario.expected",
    ),
    ("replay_comes_first", "key and cooldown", "without_replay_first", "scenario.expected"),
    ("replay_comes_first", "key and list", "without_suppression_at_send", "suppression.wins"),
    (
        "replay_comes_first",
        "key and stale token",
        "without_fencing_check",
        "tokens.stale_never_sends",
    ),
    ("replay_comes_first", "key and released lease", "without_fencing_check", "scenario.expected"),
    (
        "override_and_lease",
        "by its former holder",
        "without_fencing_check",
        "tokens.stale_never_sends",
    ),
    ("every_endpoint_keyed", "reply, its answer lost", "without_keys_on_reply", "sends.once"),
    (
        "every_endpoint_keyed",
        "reply, by another agent",
        "without_keys_on_reply",
        "scenario.expected",
    ),
    ("every_endpoint_keyed", "forward, its answer lost", "without_keys_on_reply", "sends.once"),
    (
        "every_endpoint_keyed",
        "sent, then replied",
        "without_keys_on_reply",
        "keys.payload_bound",
    ),
    *(
        ("cancel_against_send", name, "without_true_cancel", "cancels.truthful")
        for name in (
            "before the send",
            "at once",
            "recorded",
            "retried afterwards",
            "handed over",
        )
    ),
    *(
        ("cancel_against_send", name, "without_lasting_cancel", "cancels.truthful")
        for name in ("before the send", "retried afterwards")
    ),
    ("cleaned_up_meanwhile", "token counter", "without_kept_counters", "tokens.rise"),
    ("cleaned_up_meanwhile", "completed key", "without_kept_keys", "sends.once"),
    ("cleaned_up_meanwhile", "unknown outcome", "without_kept_unknown", "scenario.expected"),
    ("cleaned_up_meanwhile", "list entry", "without_kept_list", "suppression.wins"),
    (
        "cleaned_up_meanwhile",
        "claimed meanwhile",
        "without_atomic_clean_up",
        "leases.one_live",
    ),
    ("store_crashes", "between calls", "without_durable_store", "tokens.rise"),
    ("store_crashes", "list entry", "without_durable_store", "suppression.wins"),
    ("store_crashes", "in a claim", "without_durable_store", "tokens.rise"),
    ("store_crashes", "in a send", "without_durable_store", "tokens.rise"),
    *(
        ("inbound_told_twice", name, "without_inbound_dedup", "inbound.once")
        for name in ("told again", "at once", "an opt-out")
    ),
    ("inbound_told_twice", "its answer lost", "without_inbound_dedup", "scenario.expected"),
    ("inbound_told_twice", "an opt-out", "without_opt_out_in_replies", "scenario.expected"),
    ("bad_key_alone", "one key for many", "without_fingerprint", "keys.payload_bound"),
    (
        "restart_under_a_new_run",
        "with checkpoints",
        "without_original_answer",
        "sends.message_id_arrives",
    ),
    ("scheduled_after_window", "with a sent-table", "without_delivery", "sends.arrived"),
    (
        "layers_in_turn",
        "the table missed it, the key holds",
        "without_original_answer",
        "sends.message_id_arrives",
    ),
    (
        "layers_in_turn",
        "the key missed it, the table holds",
        "without_delivery",
        "sends.arrived",
    ),
    ("override_and_key", "as it was", "without_original_answer", "keys.replay_is_original"),
    ("override_and_key", "by another agent", "without_shared_keys", "sends.once"),
    ("override_and_key", "with another payload", "without_fingerprint", "keys.payload_bound"),
]
"""Race, variant, the twin it catches, and the rule that finds it."""

CAUGHT_HERE = [
    ("look_alikes", "cyrillic o", "without_difference", "scenario.expected"),
    ("look_alikes", "digit one", "without_difference", "scenario.expected"),
    ("late_renewal", "somebody came and went", "without_renewal_check", "leases.renewal_holds"),
    ("late_renewal", "somebody holds it", "without_renewal_check", "leases.renewal_holds"),
    ("run_replayed", "after a crash", "without_keys_over_restarts", "sends.once"),
    ("run_replayed", "from its middle", "without_keys_over_restarts", "sends.once"),
    ("key_window", "after", "without_window_end", "scenario.expected"),
    ("same_key_in_flight", "replicas at once", "without_keys", "sends.once"),
    *(
        ("bad_key_alone", name, "without_separate_keys", "scenario.expected")
        for name in ("time of the call", "fresh UUID", "written by the model")
    ),
    ("bad_key_alone", "window too short", "without_window_end", "scenario.expected"),
    (
        "restart_under_a_new_run",
        "without checkpoints",
        "without_separate_keys",
        "scenario.expected",
    ),
    (
        "restart_under_a_new_run",
        "with checkpoints",
        "without_keys_over_restarts",
        "sends.once",
    ),
    ("scheduled_after_window", "the key alone", "without_window_end", "scenario.expected"),
    (
        "layers_in_turn",
        "the table missed it, the key holds",
        "without_keys_over_restarts",
        "sends.once",
    ),
    (
        "layers_in_turn",
        "both missed it, the cooldown holds",
        "without_cooldown",
        "scenario.expected",
    ),
    ("override_and_key", "as it was", "without_override_kept", "scenario.expected"),
]
"""The same for what no shipped twin lacks."""

ON_PROCESSES = [
    ("same_key_in_flight", "about to be handed over", "without_key_before_delivery", "sends.once"),
    ("crash_after_hand_over", "handed over", "without_dispatching_state", "sends.once"),
    ("late_event", "clearing", "without_event_order", "suppression.wins"),
    ("rotated_credential", "reply lost", "without_shared_keys", "sends.once"),
    ("every_endpoint_keyed", "reply, its answer lost", "without_keys_on_reply", "sends.once"),
    ("inbound_told_twice", "at once", "without_inbound_dedup", "inbound.once"),
    ("cancel_against_send", "handed over", "without_true_cancel", "cancels.truthful"),
    ("cleaned_up_meanwhile", "claimed meanwhile", "without_atomic_clean_up", "leases.one_live"),
    ("store_crashes", "between calls", "without_durable_store", "tokens.rise"),
]
VALID_ON_PROCESSES = [
    ("foreign_release", "delayed on its way"),
    ("busy_store", "held by a claim"),
    ("cooldown_of_unknown", "not answered"),
    ("crash_after_hand_over", "handed over"),
    ("one_person_many_forms", "composed letters"),
    ("fan_out_partly_failed", "one not answered"),
    ("grant_after_its_end", "another took over"),
    ("bad_key_alone", "fresh UUID"),
    ("bad_key_alone", "window too short"),
    ("restart_under_a_new_run", "without checkpoints"),
    ("restart_under_a_new_run", "with checkpoints"),
    ("scheduled_after_window", "with a sent-table"),
    ("layers_in_turn", "both missed it, the cooldown holds"),
    ("every_endpoint_keyed", "reply, its answer lost"),
    ("inbound_told_twice", "at once"),
    ("cancel_against_send", "recorded"),
    ("cleaned_up_meanwhile", "token counter"),
    *(("store_crashes", name) for name in ("between calls", "in a claim", "in a send")),
    ("cleaned_up_meanwhile", "claimed meanwhile"),
]


def race_of(scenario_id: str, variant_name: str) -> tuple[Scenario, Variant]:
    scenario = SCENARIOS[scenario_id]
    return scenario, next(each for each in scenario.variants if each.name == variant_name)


def simulated(
    target: Target, scenario_id: str, variant_name: str, *, agents: int = 2, seed: int = 3
) -> RaceResult:
    engine = SimulationEngine(target, seed=seed)
    result, _ = result_of(engine.run(*race_of(scenario_id, variant_name), agents=agents))
    return result


def found(result: RaceResult) -> set[str]:
    return {finding.rule for finding in result.findings}


@pytest.fixture(scope="module")
def reference() -> Target:
    return load_target(REFERENCE)


@pytest.mark.parametrize(("scenario_id", "variant_name"), RACES)
def test_the_reference_comes_out_valid(
    reference: Target, scenario_id: str, variant_name: str
) -> None:
    """spec: X1 X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15 X16 X17 X18 X19 X20"""
    for agents, seed in ((2, 1), (3, 2), (5, 4)):
        result = simulated(reference, scenario_id, variant_name, agents=agents, seed=seed)
        assert result.verdict is Verdict.VALID, (agents, result.reason, result.findings)


@pytest.mark.parametrize(("scenario_id", "variant_name", "twin", "rule"), CAUGHT)
def test_the_twin_is_caught_by_its_rule(
    scenario_id: str, variant_name: str, twin: str, rule: str
) -> None:
    """spec: X"""
    target = importlib.import_module(f"{BROKEN}.{twin}").target
    result = simulated(target, scenario_id, variant_name)
    assert result.verdict is Verdict.INVALID, result.reason
    assert rule in found(result)


@pytest.mark.parametrize(("scenario_id", "variant_name", "lacking", "rule"), CAUGHT_HERE)
def test_what_no_shipped_twin_lacks_is_caught_too(
    scenario_id: str, variant_name: str, lacking: str, rule: str
) -> None:
    """spec: X"""
    result = simulated(LACKING[lacking], scenario_id, variant_name)
    assert result.verdict is Verdict.INVALID, result.reason
    assert rule in found(result)


def test_every_variant_can_fail() -> None:
    """A race that nothing can fail proves nothing (spec: X)."""
    shown = {(each[0], each[1]) for each in (*CAUGHT, *CAUGHT_HERE)}
    assert set(RACES) == shown


@pytest.mark.parametrize("scenario_id", SCENARIOS)
def test_its_text_says_what_it_shows_and_what_it_catches(scenario_id: str) -> None:
    scenario = SCENARIOS[scenario_id]
    text = importlib.import_module(scenario.script.__module__).__doc__ or ""
    for part in ("Property:", "Legal:", "Illegal:", "Isolation:", "Public reports: B"):
        assert part in text
    named = set(re.findall(r"without_\w+", text))
    assert named == {twin for race, _, twin, _ in CAUGHT if race == scenario_id}
    rules = {rule for race, _, _, rule in CAUGHT if race == scenario_id}
    assert {rule for rule in rules if f"`{rule}`" in text} == rules
    reports = [int(each) for each in re.findall(r"\bB(\d+)", text.partition("Public reports")[2])]
    assert all(1 <= each <= 111 for each in reports)
    assert reports == sorted(reports)


def test_they_come_after_the_six_and_state_what_they_show() -> None:
    """spec: X: one expected result each, and a window that must be entered."""
    for scenario in SCENARIOS.values():
        assert scenario.number >= 8
        assert scenario.expected
        assert scenario.masked_by
        for variant in scenario.variants:
            assert (*scenario.windows, *variant.windows) or scenario_is_answer_only(
                scenario, variant
            )


def scenario_is_answer_only(scenario: Scenario, variant: Variant) -> bool:
    """A call off at one instant has no window of its own: whichever wins is right."""
    return (scenario.id, variant.name) == ("opt_out_against_send", "at once")


@pytest.mark.parametrize(
    "number", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
)
def test_a_race_shows_each_number_of_the_list(number: int) -> None:
    """spec: X"""
    assert any(f"X{number}" in scenario.spec for scenario in SCENARIOS.values())


@pytest.mark.parametrize("number", ["O1", "O2", "O3", "K9"])
def test_the_layers_around_the_send_have_races_of_their_own(number: str) -> None:
    """spec: O1, O2, O3, K9"""
    carried = [scenario for scenario in SCENARIOS.values() if scenario.spec[0] == number]
    assert carried


def test_each_way_a_key_goes_wrong_is_a_variant() -> None:
    """spec: K9: time of call, fresh UUID, the model writes it, a short window, one key for many."""
    assert len(SCENARIOS["bad_key_alone"].variants) == 5


CLASHES = {
    ("lease", "suppression"): ("clash_of_refusals", "list and stale token"),
    ("lease", "cooldown"): ("clash_of_refusals", "stale token and cooldown"),
    ("lease", "override"): ("override_and_lease", "by its former holder"),
    ("lease", "key"): ("replay_comes_first", "key and stale token"),
    ("suppression", "cooldown"): ("clash_of_refusals", "list and cooldown"),
    ("suppression", "override"): ("override_and_suppression", "listed, then overridden"),
    ("suppression", "key"): ("replay_comes_first", "key and list"),
    ("cooldown", "override"): ("override_skips_cooldown", "by a person"),
    ("cooldown", "key"): ("replay_comes_first", "key and cooldown"),
    ("override", "key"): ("override_and_key", "as it was"),
}
"""Two mechanisms of spec C and the race in which they clash."""


def test_every_pair_of_mechanisms_clashes_in_a_race() -> None:
    """spec: C1, C2, C4, S2, S3"""
    mechanisms = ("lease", "suppression", "cooldown", "override", "key")
    assert list(CLASHES) == list(itertools.combinations(mechanisms, 2))
    assert set(CLASHES.values()) <= set(RACES)


@pytest.mark.process
@pytest.mark.parametrize(("scenario_id", "variant_name"), VALID_ON_PROCESSES)
def test_the_reference_comes_out_valid_on_processes(
    tmp_path: Path, scenario_id: str, variant_name: str
) -> None:
    with ProcessEngine(REFERENCE, tmp_path, seed=7) as engine:
        result, _ = result_of(engine.run(*race_of(scenario_id, variant_name), agents=2))
    assert result.verdict is Verdict.VALID, (result.reason, result.findings)


@pytest.mark.process
@pytest.mark.parametrize(("scenario_id", "variant_name", "twin", "rule"), ON_PROCESSES)
def test_the_twin_is_caught_on_processes(
    tmp_path: Path, scenario_id: str, variant_name: str, twin: str, rule: str
) -> None:
    with ProcessEngine(f"{BROKEN}.{twin}:target", tmp_path, seed=7) as engine:
        result, _ = result_of(engine.run(*race_of(scenario_id, variant_name), agents=2))
    assert result.verdict is Verdict.INVALID, result.reason
    assert rule in found(result)
