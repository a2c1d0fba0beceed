"""Reasons: one line of whole characters, or they are refused by name and nothing is written (spec: R3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from leaserace.harness.contract import Code, Noted, Refused
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.records import OverrideRow, SuppressionRow
from leaserace.reference_impl.texts import REASON_LENGTH_MAX
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.test_bad_input import BREAKS, CONTROLS, HUGE, Bench

Give = Callable[[ReferenceMailbox, str], Noted | Refused]
GIVEN: dict[str, Give] = {
    "suppress": lambda mailbox, reason: mailbox.suppress(JANE, reason),
    "override": lambda mailbox, reason: mailbox.override(JANE, "grace", reason),
    "resume": lambda mailbox, reason: mailbox.resume("grace", reason),
}
REFUSED = {
    "too long": (("x" * (REASON_LENGTH_MAX + 1), "x" * HUGE), "may have 998"),
    "a control character": (
        tuple(f"she{control}asked" for control in (*BREAKS, *CONTROLS) if control != "\t"),
        "line break or another control character",
    ),
    "half a character": (("she asked \ud83d",), "half a character"),
}
TAKEN = (
    "",
    "opt-out",
    "x" * REASON_LENGTH_MAX,
    "said so\ton the phone",
    "no\u00a0more 🙏🏽, merci",
)


@pytest.mark.parametrize("what", GIVEN)
@pytest.mark.parametrize("fault", REFUSED)
def test_a_reason_that_is_no_line_is_refused_by_name(desk: Desk, what: str, fault: str) -> None:
    """spec: C1, C4, R3"""
    bench = Bench(desk)
    reasons, named = REFUSED[fault]
    for reason in reasons:
        refused = bench.refused(partial(GIVEN[what], desk.mailbox(), reason))
        assert refused.code is Code.INVALID_MESSAGE, ascii(reason)[:60]
        assert refused.detail.startswith("the reason can't be used: ")
        assert named in refused.detail
    assert {record.key for record in desk.log(what)} == {"" if what == "resume" else JANE}


@pytest.mark.parametrize("what", GIVEN)
@pytest.mark.parametrize("reason", TAKEN)
def test_a_reason_of_one_line_is_kept_as_it_is(desk: Desk, what: str, reason: str) -> None:
    """spec: C1, C4, R3"""
    assert isinstance(GIVEN[what](desk.mailbox(), reason), Noted)
    (record,) = desk.log(what)
    assert record.state["reason"] == reason
    with desk.store.transaction(1.0) as tx:
        listed, override = tx.get(SuppressionRow, JANE), tx.get(OverrideRow, JANE)
    if what == "suppress":
        assert listed is not None
        assert [cause.reason for cause in listed.causes] == [reason]
    elif what == "override":
        assert override is not None
        assert override.reason == reason


def test_a_refused_reason_leaves_the_list_as_it_was(desk: Desk) -> None:
    """An opt-out that stands is not touched by one that can't be written. spec: C1"""
    desk.mailbox().suppress(JANE, "opt-out")
    desk.mailbox().suppress(JANE, "bounce\nand more")
    with desk.store.transaction(1.0) as tx:
        row = tx.get(SuppressionRow, JANE)
    assert row is not None
    assert [cause.reason for cause in row.causes] == ["opt-out"]
