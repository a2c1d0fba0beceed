"""Races the articles do not list, taken from public bug reports (spec: X)."""

from .bad_key_alone import bad_key_alone
from .busy_store import busy_store
from .cancel_against_send import cancel_against_send
from .checked_at_once import checked_at_once
from .claim_left_by_crash import claim_left_by_crash
from .clash_of_refusals import clash_of_refusals
from .cleaned_up_meanwhile import cleaned_up_meanwhile
from .contact_load import contact_load
from .cooldown_of_unknown import cooldown_of_unknown
from .counter_outlives_rows import counter_outlives_rows
from .crash_after_hand_over import crash_after_hand_over
from .drifting_key import drifting_key
from .every_endpoint_keyed import every_endpoint_keyed
from .failure_keeps_the_key import failure_keeps_the_key
from .fan_out_partly_failed import fan_out_partly_failed
from .foreign_release import foreign_release
from .fresh_key_per_call import fresh_key_per_call
from .grant_after_its_end import grant_after_its_end
from .inbound_told_twice import inbound_told_twice
from .key_window import key_window
from .late_event import late_event
from .late_renewal import late_renewal
from .layers_in_turn import layers_in_turn
from .listed_in_another_case import listed_in_another_case
from .look_alikes import look_alikes
from .loser_cleans_up import loser_cleans_up
from .one_key_one_payload import one_key_one_payload
from .one_person_many_forms import one_person_many_forms
from .opt_out_against_send import opt_out_against_send
from .opt_out_before_release import opt_out_before_release
from .override_and_key import override_and_key
from .override_and_lease import override_and_lease
from .override_and_suppression import override_and_suppression
from .override_skips_cooldown import override_skips_cooldown
from .renewal_failed import renewal_failed
from .replay_comes_first import replay_comes_first
from .restart_under_a_new_run import restart_under_a_new_run
from .reworded_retry import reworded_retry
from .rotated_credential import rotated_credential
from .run_replayed import run_replayed
from .same_key_in_flight import same_key_in_flight
from .scheduled_after_window import scheduled_after_window
from .store_crashes import store_crashes

__all__ = [
    "bad_key_alone",
    "busy_store",
    "cancel_against_send",
    "checked_at_once",
    "claim_left_by_crash",
    "clash_of_refusals",
    "cleaned_up_meanwhile",
    "contact_load",
    "cooldown_of_unknown",
    "counter_outlives_rows",
    "crash_after_hand_over",
    "drifting_key",
    "every_endpoint_keyed",
    "failure_keeps_the_key",
    "fan_out_partly_failed",
    "foreign_release",
    "fresh_key_per_call",
    "grant_after_its_end",
    "inbound_told_twice",
    "key_window",
    "late_event",
    "late_renewal",
    "layers_in_turn",
    "listed_in_another_case",
    "look_alikes",
    "loser_cleans_up",
    "one_key_one_payload",
    "one_person_many_forms",
    "opt_out_against_send",
    "opt_out_before_release",
    "override_and_key",
    "override_and_lease",
    "override_and_suppression",
    "override_skips_cooldown",
    "renewal_failed",
    "replay_comes_first",
    "restart_under_a_new_run",
    "reworded_retry",
    "rotated_credential",
    "run_replayed",
    "same_key_in_flight",
    "scheduled_after_window",
    "store_crashes",
]
