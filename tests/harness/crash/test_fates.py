"""What came of kills inside other calls than sends, counted by call."""

from __future__ import annotations

from leaserace.harness.crash.campaign import CALL_MARK
from leaserace.harness.crash.errand import End
from leaserace.harness.crash.fates import by_call, call_figures, call_table, tally_calls
from leaserace.harness.crash.strike import ANY
from leaserace.harness.crash.tally import tally
from leaserace.harness.crash.trials import Fate
from leaserace.harness.history import History, MarkEvent
from tests.harness.crash.test_tally import killed


def hit(call: str, point: str, fate: Fate) -> MarkEvent:
    return MarkEvent(t=1, name=CALL_MARK, data={"call": call, "point": point, "fate": fate.value})


HISTORY = History(
    [
        hit("suppress", "suppress.written", Fate.DONE),
        killed(End.SENT, "send.checked", "send.settled"),
        hit("acquire", ANY, Fate.HELD),
        hit("suppress", "suppress.written", Fate.LOST),
        hit("acquire", "acquire.read", Fate.AGAIN),
        hit("suppress", ANY, Fate.HELD),
    ]
)


def test_calls_stand_in_the_order_of_the_protocol_with_what_became_of_each() -> None:
    acquire, suppress = tally_calls(HISTORY)

    assert (acquire.call, acquire.kills) == ("acquire", 2)
    assert (suppress.call, suppress.kills) == ("suppress", 3)
    assert suppress.points == {"suppress.written": 2, ANY: 1}
    assert suppress.fates == {Fate.DONE: 1, Fate.LOST: 1, Fate.HELD: 1}


def test_the_table_of_calls_adds_up() -> None:
    lines = call_table(tally_calls(HISTORY))

    assert lines[3].split() == ["acquire", "2", "1", "0", "1", "0"]
    assert lines[4].split() == ["suppress", "3", "1", "1", "0", "1"]
    assert lines[-1].split() == ["all", "5", "2", "1", "1", "1"]


def test_one_line_says_which_call_was_hit_how_often() -> None:
    """Kills of a second try are counted too."""
    calls = tally_calls(HISTORY)

    assert by_call(tally(HISTORY), calls) == "7 kills: send 2, acquire 2, suppress 3"
    assert by_call([], calls) == "5 kills: acquire 2, suppress 3"


def test_figures_name_the_call_where_the_moment_does_not() -> None:
    counts = call_figures(tally_calls(HISTORY))

    assert counts["kills.suppress"] == 3
    assert counts["kills.suppress.written"] == 2
    assert counts["kills.suppress at any instant"] == counts["kills.acquire at any instant"] == 1
    assert counts["fate.lost"] == counts["fate.done"] == 1
    assert counts["fate.held"] == 2
