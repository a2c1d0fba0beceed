"""What came of the kills, counted."""

from __future__ import annotations

from typing import Any

from leaserace.harness.crash.campaign import MARK
from leaserace.harness.crash.errand import End
from leaserace.harness.crash.tally import figures, table, tally, total
from leaserace.harness.history import AnyEvent, AuditEvent, History, MarkEvent


def killed(end: End, *points: str, arrived: int = 1, key: str = "k") -> MarkEvent:
    data: dict[str, Any] = {"intent": key, "key": key, "points": points, "end": end.value}
    return MarkEvent(t=1, name=MARK, data=data | {"arrived": arrived})


def unknown(key: str) -> AuditEvent:
    return AuditEvent(t=2, seq=1, value={"decision": "unknown", "idempotency_key": key})


def history(*events: AnyEvent) -> History:
    return History(list(events))


def test_a_send_is_counted_where_its_sender_was_killed_first() -> None:
    (first, second) = tally(history(killed(End.SENT, "send.checked", "send.settled")))

    assert (first.point, first.kills, first.sends) == ("send.checked", 1, 1)
    assert (second.point, second.kills, second.sends) == ("send.settled", 1, 0)


def test_the_audit_log_says_what_was_unknown_though_nobody_heard_of_it() -> None:
    """The look-up settles it and answers with the outcome (spec: S8, K3)."""
    rows = tally(
        history(
            killed(End.RECORDED, "send.handed_over", key="Run:1"),
            killed(End.SENT, "send.handed_over", key="run:2"),
            killed(End.RECORDED, "send.handed_over", key="run:3"),
            unknown("run:1"),
            unknown("run:2"),
        )
    )

    assert total(rows).ends == {End.FOUND: 1, End.SENT_AFTER: 1, End.RECORDED: 1}


def test_more_than_one_is_a_duplicate_and_none_is_a_loss_where_it_was_said_to_be_sent() -> None:
    rows = tally(
        history(
            killed(End.RECORDED, "send.settled", arrived=3),
            killed(End.RECORDED, "send.settled", arrived=0),
            killed(End.UNKNOWN, "send.dispatching", arrived=0),
            killed(End.LOST, "send.dispatching", arrived=0),
        )
    )

    whole = total(rows)
    assert (whole.duplicates, whole.lost) == (2, 1)
    counts = figures(rows)
    assert counts["duplicates"] == 2
    assert counts["end.unknown"] == counts["end.lost"] == 1
    assert counts["kills.send.settled"] == 2


def test_rows_stand_in_the_order_of_the_send_path_with_a_targets_own_points_inside() -> None:
    points = ["at any instant", "outbox.written", "send.returned", "send.invoked", "send.recorded"]
    rows = tally(history(*(killed(End.SENT, point) for point in points)))

    assert [row.point for row in rows] == [
        "send.invoked",
        "send.recorded",
        "outbox.written",
        "send.returned",
        "at any instant",
    ]


def test_the_table_shows_only_ends_that_were_seen_and_adds_up() -> None:
    lines = table(tally(history(killed(End.SENT, "send.checked"), killed(End.SENT, "send.think"))))

    assert "unknown" not in lines[0] + lines[1]
    assert lines[1].split() == ["killed", "kills", "sent", "duplicates", "lost"]
    assert lines[3].split() == ["send.think", "1", "1", "0", "0"]
    assert lines[-3].split() == ["all", "2", "2", "0", "0"]
    assert len({len(line) for line in lines[1:4]}) == 1
