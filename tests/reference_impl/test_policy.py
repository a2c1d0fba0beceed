"""The policy and its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaserace.harness.contract import MessageKind, Settings, UsageError
from leaserace.reference_impl.identity import contact_key
from leaserace.reference_impl.policy import Policy, Situation, load_policy, policy_from

FULL = """
drafting_s = 30
commercial_cooldown_s = 86400.5
escalate_after = 5
sender = "team@acme.com"
people = ["grace"]
ignore_dots = ["acme.com"]
ignore_tags = ["acme.com"]

[aliases]
"acme.co.uk" = "acme.com"
"""


def test_the_defaults_are_the_ones_of_the_spec() -> None:
    """spec: L10, C2, R2"""
    policy = load_policy(None)
    assert policy.lease_ms(Situation.DRAFTING) == 60_000
    assert policy.lease_ms(Situation.SEQUENCE_STEP) == 300_000
    assert policy.cooldown_ms(MessageKind.TRANSACTIONAL) == 0
    assert policy.cooldown_ms(MessageKind.COMMERCIAL) > 0
    assert policy.escalate_after == 3


def test_the_opt_out_can_be_switched_off() -> None:
    """spec: C6, O6"""
    policy = policy_from(
        {"opt_out_url": "", "opt_out_address": "", "commercial_needs_opt_out": False}
    )
    assert (policy.opt_out_url, policy.opt_out_address) == ("", "")
    assert load_policy(None).commercial_needs_opt_out


def test_a_policy_file_sets_what_it_names(tmp_path: Path) -> None:
    """spec: L10"""
    path = tmp_path / "policy.toml"
    path.write_text(FULL, encoding="utf-8")
    policy = load_policy(path)
    assert policy.drafting_s == 30
    assert policy.cooldown_ms(MessageKind.COMMERCIAL) == 86_400_500
    assert policy.people == ("grace",)
    assert contact_key("J.Doe+x@acme.co.uk", policy).key == "jdoe@acme.com"
    assert policy.sequence_step_s == Policy().sequence_step_s


def test_the_harness_sets_lengths_and_nothing_else() -> None:
    policy = policy_from({"people": ["grace"], "aliases": {"a.org": "b.org"}})
    changed = policy.with_settings(
        Settings(lease_s=0.3, cooldown_s=1.0, key_window_s=2.0, transport_timeout_s=0.4)
    )
    assert {changed.lease_ms(each) for each in Situation} == {300}
    assert changed.cooldown_ms(MessageKind.COMMERCIAL) == 1000
    assert changed.cooldown_ms(MessageKind.TRANSACTIONAL) == 0
    assert changed.key_window_s == 2.0
    assert changed.people == ("grace",)
    assert changed.addresses == policy.addresses
    assert changed.send_deadline_s == pytest.approx(1.3)


def test_the_harness_may_ask_for_a_breaker_and_else_the_policy_says() -> None:
    """spec: O5"""
    policy = policy_from({"breaker_minimum": 40})

    assert policy.with_settings(Settings()).breaker_minimum == 40
    assert policy.with_settings(Settings(breaker_minimum=1)).breaker_minimum == 1
    assert policy.with_settings(Settings(breaker_minimum=0)).breaker_minimum == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"drafting_s": -1}, r"drafting_s = -1: give seconds, from 0\.001"),
        ({"drafting_s": 0}, r"drafting_s = 0: give seconds"),
        (
            {"commercial_cooldown_s": -0.5},
            r"commercial_cooldown_s = -0\.5: give seconds, from 0 to",
        ),
        ({"key_window_s": "long"}, "key_window_s = 'long': give seconds"),
        ({"key_window_s": float("nan")}, "key_window_s = nan: give seconds"),
        ({"key_window_s": float("inf")}, "key_window_s = inf: give seconds"),
        ({"key_window_s": True}, "key_window_s = True: give seconds"),
        ({"cooldown": 5}, "unknown key cooldown = 5: use one of drafting_s, "),
        ({"addresses": 5}, "unknown key addresses = 5"),
        ({"escalate_after": 0}, "escalate_after = 0: give a whole number of at least 1"),
        ({"escalate_after": True}, "escalate_after = True: give a whole number"),
        ({"escalate_after": 2.5}, r"escalate_after = 2\.5: give a whole number"),
        ({"sender": "nobody"}, "sender = 'nobody': give an address"),
        ({"sender": 5}, "sender = 5: give an address"),
        ({"opt_out_address": "out"}, "opt_out_address = 'out': give an address"),
        ({"opt_out_url": "http://acme.com"}, "opt_out_url = .*: give an https address"),
        ({"opt_out_url": "https://acme.com/?a=1"}, "opt_out_url = .*: give an https address"),
        ({"opt_out_url": None}, "opt_out_url = None: give an https address"),
        ({"commercial_needs_opt_out": 1}, "commercial_needs_opt_out = 1: give true or false"),
        ({"bounce_rate": 1.5}, r"bounce_rate = 1\.5: give a share from 0 to 1"),
        ({"complaint_rate": True}, "complaint_rate = True: give a share"),
        ({"budget_sends": -1}, "budget_sends = -1: give a whole number of at least 0"),
        ({"opt_out_s": 29 * 86_400}, "opt_out_s = .*: give seconds, from"),
        ({"largest_message_bytes": 0}, "largest_message_bytes = 0: give a whole number"),
        ({"people": "grace"}, "people = 'grace': give a list of texts"),
        ({"ignore_dots": [1]}, r"ignore_dots = \[1\]: give a list of texts"),
        ({"aliases": {"a.org": 1}}, "aliases = .*: give a table"),
        ({"aliases": ["a.org"]}, "aliases = .*: give a table"),
        ({"aliases": {"a b": "c.org"}}, "'a b' is no domain"),
    ],
)
def test_a_value_that_can_not_be_used_is_named_with_its_remedy(
    values: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        policy_from(values)


@pytest.mark.parametrize("content", [b"drafting_s = ", b"\xff\xfe"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"policy\.toml: not TOML"):
        load_policy(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.toml: No such file.*can be read"):
        load_policy(tmp_path / "gone.toml")
