"""The terminal's table."""

import pytest

from leaserace.harness.outcome import CanaryResult
from leaserace.harness.verdict import Verdict
from leaserace.reports.table import MASKS_MAX, table_text
from tests.reports.samples import failing, outcome, passing, valid_result

PASSING_80 = """\
Canary: a mailbox broken on purpose (without_fencing_check) was caught in 620 ms
by tokens.stale_never_sends.

race                 verdict  expected, observed               dupl.  2x  rounds
--------------------------------------------------------------------------------
one_lease            valid    exactly one lease succeeds           0   0     100
(2 races)                     saw: 1 lease granted, 1
                              contact_owned
stale_token          valid    exactly one lease succeeds           0   0     100
(2 races)                     saw: 1 lease granted, 1
                              contact_owned
retry_after_timeout  valid    exactly one lease succeeds           0   0     100
(2 races)                     saw: 1 lease granted, 1
                              contact_owned

dupl.: duplicates; 2x: two agents wrote to one person inside a cooldown

Gate: VALID - 2..3 agents, 6 races, 0 duplicates, 0 double contacts, 11.4 s
Every race ended as expected.
0 duplicates in 300 contended rounds: the rate is below 0.99 % (95 % sure).
"""


def test_a_run_without_findings_reads_like_this_at_80_columns() -> None:
    """Rounds of a scenario are added up; the rate is the rule of three's."""
    assert table_text(passing(), width=80) == PASSING_80


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """The widest word of a name is folded, not the terminal's edge crossed."""
    assert max(map(len, table_text(failing(), width=width).splitlines())) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_verdict_stands_whole_at_any_width(width: int) -> None:
    """Nothing is cut that says how a race ended."""
    lines = table_text(
        outcome(*(valid_result(verdict.name.lower(), verdict=verdict) for verdict in Verdict)),
        width=width,
    )
    for verdict in Verdict:
        assert f" {verdict.value} " in lines


def test_a_pipe_gets_no_escape_sequence() -> None:
    """Colour only where it was asked for."""
    assert "\x1b" not in table_text(failing(), width=120)
    assert "\x1b[" in table_text(failing(), width=120, colour=True)


def test_text_of_the_target_cannot_move_the_cursor() -> None:
    """An escape sequence in an observed text is shown, not obeyed."""
    text = table_text(outcome(valid_result(observed="\x1b[2Jgone\r\u202eevil")), width=120)
    assert "\x1b" not in text
    assert "\\x1b[2Jgone" in text
    assert "\u202e" not in text


def test_a_wide_terminal_has_a_column_for_what_would_have_masked_it() -> None:
    """At 120 columns it stands in the table, at 80 beneath it."""
    assert "would be masked by" in table_text(failing(), width=120)
    narrow = table_text(failing(), width=80)
    assert "A fault would be masked by:\n  stale_token: a cooldown would" in narrow


def test_of_many_races_only_those_that_failed_say_what_would_have_masked_it() -> None:
    """A terminal is no place for a list of what did not happen; the files have all of it."""
    fine = [valid_result(scenario=f"race_{n}", masked_by="a cooldown") for n in range(MASKS_MAX)]
    assert "race_0: a cooldown" in _unfolded(table_text(outcome(*fine[:1]), width=80))
    text = _unfolded(table_text(outcome(*fine, *failing().races), width=80))
    assert "race_0: a cooldown" not in text
    assert "stale_token: a cooldown would" in text


def _unfolded(text: str) -> str:
    return " ".join(text.split())


def test_a_canary_that_was_not_caught_is_said_first() -> None:
    """A gate that can't fail proves nothing."""
    canary = CanaryResult(twin="t", rule="r", caught=False, seconds=5)
    first = table_text(outcome(valid_result(), canary=canary), width=200).splitlines()[0]
    assert "NOT caught" in first
    assert "do not trust this run" in first


def test_an_unknown_race_is_no_pass() -> None:
    """spec: T; unknown is never folded into valid."""
    race = valid_result(verdict=Verdict.UNKNOWN, reason="the pause did not take", rounds=0)
    text = table_text(outcome(race), width=120)
    assert "Gate: UNKNOWN" in text
    assert "This is no pass" in text
    assert "the pause did not take" in text


def test_a_race_that_failed_stands_beside_its_siblings_that_did_not() -> None:
    """Variants are gathered only where they ended alike."""
    broken = valid_result("one_lease", 3, verdict=Verdict.INVALID, duplicates=2)
    text = table_text(outcome(valid_result(), valid_result("one_lease", 4), broken), width=120)
    assert "(2 races)" in text
    assert "[plain]/3" in text


def test_a_run_of_no_races_says_so() -> None:
    """Nothing at all is not applicable."""
    assert "No race applies to this target" in table_text(outcome(), width=80)
