"""The twins the gate feeds first: one for each layer, each shown by one short race.

The gate draws one by its seed. It must find the rule named here, or it can't be believed.
"""

from __future__ import annotations

_RACES = (
    ("without_fencing_check", "stale_token", "before the call", "tokens.stale_never_sends"),
    ("without_case_folding", "two_spellings", "one after the other", "leases.one_live"),
    ("without_unknown_state", "retry_after_timeout", "SMTP took it, its reply lost", "sends.once"),
    (
        "without_suppression_at_send",
        "suppressed_while_leased",
        "by another agent",
        "suppression.wins",
    ),
    ("without_shared_cooldown", "cooldown_after_delivery", "handed on", "cooldown.binds_all"),
    ("without_delivery", "retry_after_timeout", "reply lost", "sends.arrived"),
)

_CRASHES = (
    ("without_dispatching_state", "crash", "handed over", "sends.once"),
    ("without_key_after_failure", "crash", "handed over", "sends.once"),
    ("without_key_before_delivery", "crash", "handed over", "sends.once"),
    ("without_suppression_before_release", "crash", "opt-out told", "suppression.wins"),
)


def _canaries(shown: tuple[tuple[str, str, str, str], ...]) -> tuple[dict[str, str], ...]:
    return tuple(
        {
            "twin": twin,
            "target": f"leaserace.reference_impl.broken.{twin}:target",
            "scenario": scenario,
            "variant": variant,
            "rule": rule,
        }
        for twin, scenario, variant, rule in shown
    )


CANARIES = _canaries(_RACES)
"""What `leaserace.harness.gate.Canary` is made from."""
CRASH_CANARIES = _canaries(_CRASHES)
"""The same for `leaserace crash`, whose twins lose or double what a crash leaves in doubt."""
