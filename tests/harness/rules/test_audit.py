"""The rule over the audit log: no refusal without the state that explains it."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.audit import RefusalHasState
from tests.support.ops import BOB, SALES, SUPPORT, Tape


def _tape() -> Tape:
    return Tape(capabilities=Capability)


def _live(tape: Tape) -> dict[str, Any]:
    return {"lease": {"owner": SALES, "token": 42, "expires_at_ms": tape.now_ms + 500}}


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = _tape().judge(RefusalHasState)
    assert not judgement.findings
    assert judgement.exercised == {RefusalHasState.name: 0}


def test_a_refusal_in_the_log_is_legal() -> None:
    """spec: R3."""
    tape = _tape()
    tape.granted(SALES, 42)
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.audit("acquire", "granted", SALES, token=42)
    tape.audit("acquire", "contact_owned", SUPPORT, state=_live(tape))
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["audit.refusal_has_state"] == 1


def test_a_refusal_that_is_not_in_the_log_is_a_finding() -> None:
    """spec: R3."""
    tape = _tape()
    tape.granted(SALES, 42)
    op = tape.refused(SUPPORT, "acquire", "contact_owned")
    (finding,) = tape.findings(RefusalHasState)
    assert finding.ops == (op,)
    assert "1 times acquire of support-01 was refused with contact_owned" in finding.message


def test_a_record_of_another_contact_does_not_count() -> None:
    """spec: R3."""
    tape = _tape()
    tape.granted(SALES, 42)
    tape.refused(SUPPORT, "acquire", "contact_owned", BOB)
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.audit("acquire", "contact_owned", SUPPORT, state=_live(tape), key="bob@example.com")
    tape.audit("acquire", "contact_owned", SUPPORT, state=_live(tape), key="carl@example.com")
    (finding,) = tape.findings(RefusalHasState)
    assert finding.contact == "jane"


def test_records_nobody_saw_the_answer_of_are_welcome() -> None:
    """spec: S10, R3: a lost reply leaves a record."""
    tape = _tape()
    tape.granted(SALES, 42)
    tape.info(tape.invoke(SUPPORT, "acquire"), "reply_lost")
    tape.audit("acquire", "contact_owned", SUPPORT, state=_live(tape))
    assert not tape.findings(RefusalHasState)


def test_a_refusal_at_the_last_look_counts_for_its_send() -> None:
    """spec: S8, R3."""
    tape = _tape()
    tape.refused(SALES, "send", "suppressed")
    tape.audit("dispatch", "suppressed", SALES, state={"suppression": ["opt-out"]})
    assert not tape.findings(RefusalHasState)


@pytest.mark.parametrize("code", ["store_busy", "invalid_address", "key_missing"])
def test_what_had_no_transaction_need_not_be_in_the_log(code: str) -> None:
    """spec: R."""
    tape = _tape()
    tape.refused(SALES, "send", code)
    assert not tape.findings(RefusalHasState)


def test_a_send_that_found_the_store_busy_need_not_be_in_the_log() -> None:
    """spec: R, S8."""
    tape = _tape()
    op = tape.invoke(SALES, "send")
    tape.at(300).fail(op, "send_in_progress")
    assert not tape.findings(RefusalHasState)
    tape.refused(SALES, "send", "send_in_progress")
    assert tape.findings(RefusalHasState)


GOOD: list[tuple[str, dict[str, Any]]] = [
    ("contact_owned", {"lease": {"owner": SALES, "expires_at_ms": 1001}}),
    ("suppressed", {"suppression": ["opt-out"]}),
    ("cooldown_active", {"cooldown": {"until_ms": 1001}}),
    ("stale_fencing_token", {"lease": {"token": 42}}),
    ("stale_fencing_token", {"fence": 42, "lease": None}),
    ("lease_expired", {"lease": {"expires_at_ms": 1000}}),
    ("lease_expired", {}),
    ("not_holder", {}),
]
BAD: list[tuple[str, dict[str, Any], str]] = [
    ("contact_owned", {}, "no owner"),
    ("contact_owned", {"lease": {"owner": SALES, "expires_at_ms": 1000}}, "a lease that had ended"),
    ("suppressed", {"suppression": []}, "no entry of the list"),
    ("cooldown_active", {"cooldown": {"until_ms": 1000}}, "a cooldown until 1000"),
    ("cooldown_active", {}, "a cooldown until 0"),
    ("stale_fencing_token", {"lease": {"token": 41}}, "the stored token 41 against 41"),
    ("lease_expired", {"lease": {"expires_at_ms": 1001}}, "a lease that ends at 1001"),
]


@pytest.mark.parametrize(("code", "state"), GOOD)
def test_a_state_that_explains_the_refusal_is_legal(code: str, state: dict[str, Any]) -> None:
    """spec: R3, S7."""
    tape = _tape()
    tape.audit("send", code, at_ms=1000, token=41, state=state)
    assert not tape.findings(RefusalHasState)


@pytest.mark.parametrize(("code", "state", "said"), BAD)
def test_a_state_that_does_not_is_a_finding(code: str, state: dict[str, Any], said: str) -> None:
    """spec: R3, S7."""
    tape = _tape()
    tape.audit("send", code, at_ms=1000, token=41, state=state)
    (finding,) = tape.findings(RefusalHasState)
    assert said in finding.message


def test_a_log_whose_numbers_do_not_rise_is_a_finding() -> None:
    """spec: R3."""
    tape = _tape()
    tape.audit("acquire", "granted", SALES, token=41)
    tape.audit("release", "released", SALES, token=41, seq=1)
    (finding,) = tape.findings(RefusalHasState)
    assert "no commit order" in finding.message


BOTH: dict[str, Any] = {"suppression": ["opt-out"], "fence": 42, "lease": None}
"""The contact is on the list, and the token stale."""


@pytest.mark.parametrize(
    ("code", "reasons"),
    [
        ("suppressed", ()),
        ("suppressed", ("suppressed", "stale_fencing_token")),
        ("key_reused", ("key_reused",)),
    ],
)
def test_the_strongest_refusal_with_all_that_held_is_legal(
    code: str, reasons: tuple[str, ...]
) -> None:
    """spec: S7: the key is looked at before."""
    tape = _tape()
    tape.audit("send", code, token=41, state=BOTH, reasons=reasons)
    assert not tape.findings(RefusalHasState)


def test_a_send_without_a_token_has_no_stale_one() -> None:
    """spec: S3, S7."""
    tape = _tape()
    tape.audit("send", "not_holder", state={"fence": 42}, reasons=("not_holder",))
    assert not tape.findings(RefusalHasState)


@pytest.mark.parametrize(
    ("event", "code", "state", "reasons", "said"),
    [
        ("send", "stale_fencing_token", BOTH, (), "suppressed holds too, which is stronger"),
        ("dispatch", "cooldown_active", {"fence": 42, "cooldown": {"until_ms": 9**15}}, (),
         "stale_fencing_token holds too, which is stronger"),
        ("send", "suppressed", BOTH, ("suppressed",),
         "stale_fencing_token holds too, and the reasons do not name it"),
    ],
)  # fmt: skip
def test_a_weaker_refusal_or_a_reason_left_out_is_a_finding(
    event: str, code: str, state: dict[str, Any], reasons: tuple[str, ...], said: str
) -> None:
    """spec: S7, R3."""
    tape = _tape()
    tape.audit(event, code, token=41, state=state, reasons=reasons)
    (finding,) = tape.findings(RefusalHasState)
    assert said in finding.message
