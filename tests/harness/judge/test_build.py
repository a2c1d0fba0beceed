"""What becomes of a log's lines: order, doubt, repetitions, what was before, what is missing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from leaserace.harness.history import DeliveryEvent, OpEvent, OpType
from leaserace.harness.judge.run import judge_log
from leaserace.harness.verdict import Verdict

from .logs import GOOD, T0_MS, judged, mapping, row, rules, write


def said(answer: Any, words: str) -> str:
    """The notice with these words, or ""."""
    return next((each for each in answer.outcome.notices if words in each), "")


def test_a_good_log_is_valid_and_names_what_it_can_not_support(tmp_path: Path) -> None:
    answer = judged(tmp_path, *GOOD)

    assert answer.outcome.verdict is Verdict.VALID
    assert "sends.once" in answer.judged
    assert answer.not_judged["tokens.commit_order"] == (
        "fields.seq is not mapped: the commit order is not known"
    )


def test_lines_out_of_order_are_sorted_and_that_is_said(tmp_path: Path) -> None:
    shuffled = list(GOOD)
    random.Random(3).shuffle(shuffled)

    answer = judged(tmp_path, *shuffled)

    assert answer.outcome.verdict is Verdict.VALID
    assert "sorted by time" in said(answer, "older than the line before them")


def test_lines_that_stand_twice_count_once(tmp_path: Path) -> None:
    answer = judged(tmp_path, *(each for each in GOOD for _ in range(2)))

    assert answer.outcome.verdict is Verdict.VALID
    assert said(answer, "stand in the log twice").startswith("9 lines")


def test_two_deliveries_that_differ_in_a_field_that_is_not_mapped_are_two(tmp_path: Path) -> None:
    """The text of the lines decides, not the mapped fields alone."""
    twice = [
        row(1_500, "arrived", "sales-01", mid="<m1@x>", smtp="A"),
        row(1_500, "arrived", "sales-01", mid="<m1@x>", smtp="B"),
    ]

    answer = judged(tmp_path, *GOOD[:2], *twice, GOOD[-1])

    assert answer.outcome.duplicates == 1
    assert rules(answer) == ["sends.once"]


def test_a_webhook_posted_again_is_told_by_its_own_id(tmp_path: Path) -> None:
    """A provider posts the same event again, with another attempt's number in it."""
    again = row(1_500, "arrived", "sales-01", mid="<m1@x>", id="evt-3", attempt=2)
    rows = [each | {"id": f"evt-{place}"} for place, each in enumerate(GOOD, start=1)]

    answer = judged(tmp_path, *rows, again, fields={"record_id": "id"})

    assert answer.outcome.verdict is Verdict.VALID
    assert answer.outcome.duplicates == 0


def test_a_missing_reply_is_an_unknown_outcome(tmp_path: Path) -> None:
    """spec: K10. A begin without an end may have happened; a retry under the key explains it."""
    answer = judged(
        tmp_path,
        row(0, "granted", "sales-01", token=1),
        row(1_000, "asked", "sales-01", token=1, key="k1"),
        row(1_300, "arrived", "sales-01", key="k1", mid="<m1@x>"),
        row(20_000, "asked", "sales-01", token=1, key="k1"),
        row(20_200, "again", "sales-01", token=1, key="k1", mid="<m1@x>"),
        row(200_000, "granted", "a", "b@c.com", token=1),
        events={"asked": "send.begin", "again": "send.replay"},
    )

    assert answer.outcome.verdict is Verdict.VALID
    sends = [event for event in answer.history if isinstance(event, OpEvent) and event.f == "send"]
    assert [event.type for event in sends].count(OpType.INVOKE) == 2
    assert [event.type for event in sends].count(OpType.OK) == 1


def test_times_to_the_second_make_what_they_hold_simultaneous(tmp_path: Path) -> None:
    """spec: S10. Inside one second either order may be the true one, so nobody is accused."""
    rows = (
        {"t": 1_796_000_000, "e": "optout", "who": "sales-01", "to": "a@b.com"},
        {"t": 1_796_000_000, "e": "sent", "who": "support-01", "to": "a@b.com", "key": "k"},
        {"t": 1_796_000_001, "e": "arrived", "who": "support-01", "to": "a@b.com", "key": "k"},
        {"t": 1_796_000_900, "e": "sent", "who": "support-01", "to": "c@b.com", "key": "l"},
        {"t": 1_796_000_901, "e": "arrived", "who": "support-01", "to": "c@b.com", "key": "l"},
    )
    seconds = {"field": "t", "format": "unix_s"}

    assert judged(tmp_path, *rows, time=seconds).outcome.verdict is Verdict.VALID

    later = [rows[0], rows[1] | {"t": 1_796_000_003}, rows[2] | {"t": 1_796_000_004}, *rows[3:]]
    assert "suppression.wins" in rules(judged(tmp_path, *later, time=seconds))


def test_what_was_granted_before_the_log_began_is_not_judged(tmp_path: Path) -> None:
    answer = judged(
        tmp_path,
        row(0, "sent", "sales-01", token=7, key="k0", mid="<m0@x>"),
        row(500, "arrived", "sales-01", mid="<m0@x>"),
        row(600, "released", "sales-01", token=7),
        *(each | {"token": each["token"] + 7} if "token" in each else each for each in GOOD),
    )

    assert answer.outcome.verdict is Verdict.VALID
    assert said(answer, "granted before the log began; their lease was not judged").startswith("1 ")


def test_a_token_that_no_grant_gave_is_found_once_grants_are_in_the_log(tmp_path: Path) -> None:
    """spec: S3."""
    answer = judged(
        tmp_path, *GOOD, row(201_000, "sent", "b", "omar@example.com", token=9, key="x")
    )

    assert "leases.live_at_send" in rules(answer)


def test_a_log_that_begins_with_an_empty_system_may_be_judged_for_its_refusals(
    tmp_path: Path,
) -> None:
    """spec: R."""
    rows = (*GOOD, row(201_000, "denied", "b", "nobody@example.com"))

    assert "refusals.explained" not in judged(tmp_path, *rows).judged
    assert "refusals.explained" in rules(judged(tmp_path, *rows, settings={"from_start": True}))


def test_a_message_on_its_way_when_the_log_ends_is_not_held_against_anybody(tmp_path: Path) -> None:
    answer = judged(tmp_path, *GOOD[:-1], row(6_000, "sent", "a", "b@c.com", key="z", mid="<z@x>"))

    assert answer.outcome.verdict is Verdict.VALID
    assert said(answer, "had not arrived when the log ended").startswith("1 ")


def test_an_acknowledged_message_that_never_arrives_is_a_finding(tmp_path: Path) -> None:
    """spec: S8."""
    assert "sends.arrived" in rules(
        judged(tmp_path, row(6_000, "sent", "a", "b@c.com", key="z", mid="<z@x>"), *GOOD)
    )


def test_a_log_without_deliveries_takes_an_answer_for_one_and_says_so(tmp_path: Path) -> None:
    rows = [each for each in GOOD if each["e"] != "arrived"]

    answer = judged(tmp_path, *rows, events={"arrived": "ignore"})

    assert answer.outcome.verdict is Verdict.VALID
    assert sum(isinstance(event, DeliveryEvent) for event in answer.history) == 2
    assert said(answer, "The log holds no deliveries")


def test_a_log_of_deliveries_only_shows_who_wrote_twice(tmp_path: Path) -> None:
    """spec: C2."""
    answer = judged(
        tmp_path,
        row(0, "arrived", "sales-01", mid="<a@x>"),
        row(400_000, "arrived", "support-01", mid="<b@x>"),
        events={"sent": "ignore", "replayed": "ignore"},
        settings={"cooldown_s": 3_600.0},
    )

    assert answer.outcome.double_contacts == 1
    assert said(answer, "The log holds deliveries only")


def test_one_line_to_several_recipients_is_one_send_each(tmp_path: Path) -> None:
    """spec: K7, X18."""
    answer = judged(
        tmp_path,
        row(0, "sent", "sales-01", ["a@x.com", "b@x.com"], key="k", mid="<m@x>"),
        row(100, "arrived", "sales-01", "a@x.com", mid="<m@x>"),
        row(100, "arrived", "sales-01", "b@x.com", mid="<m@x>"),
        row(200_000, "granted", "sales-01", token=1),
    )

    assert answer.outcome.verdict is Verdict.VALID
    assert {event.contact for event in answer.history if isinstance(event, OpEvent)} == {
        "a@x.com",
        "b@x.com",
        "jane@acme.com",
    }


def test_the_commit_order_is_kept_where_the_clock_goes_back(tmp_path: Path) -> None:
    """A clock that was put back by an hour between two grants: seq, not time, is the order."""
    rows = [each | {"n": place} for place, each in enumerate(GOOD, start=1)]
    for each in rows[4:8]:
        each["t"] -= 3_600_000
        if "until" in each:
            each["until"] -= 3_600_000

    answer = judged(tmp_path, *rows, fields={"seq": "n"})

    assert answer.outcome.verdict is not Verdict.INVALID
    assert "order by seq was kept" in said(answer, "older than the line before them")


def test_several_zones_in_one_log_are_one_time(tmp_path: Path) -> None:
    zones = ("2026-11-30T12:00:00+00:00", "2026-11-30T13:00:01+01:00", "2026-11-30T06:00:02-06:00")
    rows = [
        {"t": zones[0], "e": "granted", "who": "a", "to": "x@y.com", "token": 1},
        {"t": zones[1], "e": "sent", "who": "a", "to": "x@y.com", "token": 1, "key": "k"},
        {"t": zones[2], "e": "released", "who": "a", "to": "x@y.com", "token": 1},
    ]

    answer = judged(
        tmp_path, *rows, time={"field": "t", "format": "iso"}, events={"arrived": "ignore"}
    )

    assert answer.outcome.verdict is Verdict.VALID
    assert [event.t for event in answer.history] == sorted(event.t for event in answer.history)


def test_fields_may_stand_deeper_and_have_several_names(tmp_path: Path) -> None:
    rows = [
        {"t": each["t"], "e": each["e"], "data": {"agent": {"id": each["who"]}, "rcpt": each["to"]}}
        | {name: each[name] for name in ("token", "key", "mid", "until") if name in each}
        for each in GOOD
    ]

    answer = judged(
        tmp_path, *rows, fields={"agent": "data.agent.id", "recipient": ["to", "data.rcpt"]}
    )

    assert answer.outcome.verdict is Verdict.VALID
    assert answer.outcome.agents == (2, 2)


@pytest.mark.parametrize(
    "spellings", [("Jane@Acme.com", "jane@acme.com"), ("jane@acme.com", "JANE@ACME.COM ")]
)
def test_spellings_that_differ_in_case_are_one_person(
    spellings: tuple[str, str], tmp_path: Path
) -> None:
    """spec: I1."""
    answer = judged(
        tmp_path,
        row(0, "granted", "sales-01", spellings[0], token=1),
        row(1_000, "granted", "support-01", spellings[1], token=1),
        contact={"identity": "plain"},
    )

    assert "leases.one_live" in rules(answer)


def test_one_contact_with_more_lines_than_fit_is_judged_from_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaserace.harness.judge import spill

    monkeypatch.setattr(spill, "RUN_ROWS", 50)
    rows = []
    for number in range(120):
        at = number * 10_000
        rows += [
            row(at, "granted", "sales-01", token=number + 1),
            row(
                at + 100,
                "sent",
                "sales-01",
                token=number + 1,
                key=f"k{number}",
                mid=f"<{number}@x>",
            ),
            row(at + 200, "arrived", "sales-01", mid=f"<{number}@x>", key=f"k{number}"),
            row(at + 300, "released", "sales-01", token=number + 1),
        ]
    good = judged(tmp_path, *rows, row(9_000_000, "granted", "b", "c@d.com", token=1))
    rows.insert(240, row(600_050, "sent", "support-01", token=1, key="stale", mid="<stale@x>"))
    bad = judged(tmp_path, *rows, row(9_000_000, "granted", "b", "c@d.com", token=1))

    assert good.outcome.verdict is Verdict.VALID
    assert "tokens.stale_never_sends" in rules(bad)


def test_a_large_log_is_read_in_parts_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaserace.harness.judge import run, spill

    path = write(
        tmp_path / "log.jsonl",
        *(each | {"to": f"p{n}@x.com"} for n in range(40) for each in GOOD[:-1]),
        row(300_000, "granted", "b", "p3@x.com", token=1),
        "rubbish",
    )
    whole = judge_log(path, mapping(), jobs=1)

    monkeypatch.setattr(run, "SPAN_BYTES", 2_000)
    monkeypatch.setattr(run, "WHOLE_ROWS", 0)
    monkeypatch.setattr(spill, "SHARD_BYTES", 4_000)
    parts = judge_log(path, mapping(), jobs=1)

    assert rules(parts) == rules(whole) == ["tokens.rise"]
    assert parts.outcome.races[0].findings == whole.outcome.races[0].findings
    assert parts.outcome.notices == whole.outcome.notices
    assert f"log.jsonl:{40 * (len(GOOD) - 1) + 2}: not JSON" in parts.outcome.notices[0]
    assert {event.contact for event in parts.history if isinstance(event, OpEvent)} == {"p3@x.com"}


def test_a_log_that_is_wrong_everywhere_is_told_by_a_sample_and_a_number(tmp_path: Path) -> None:
    rows = [
        row(10_000 * n + at, "granted", who, f"p{n}@x.com", token=1)
        for n in range(300)
        for at, who in ((0, "sales-01"), (1_000, "support-01"))
    ]

    answer = judged(tmp_path, *rows)

    found = rules(answer)
    assert found.count("tokens.rise") == found.count("leases.one_live") == 100
    assert "600 findings" in answer.outcome.races[0].observed


def test_the_outcome_of_a_call_may_stand_in_a_code_of_its_end(tmp_path: Path) -> None:
    """spec: R."""
    answer = judged(
        tmp_path,
        row(0, "ask", "sales-01"),
        row(100, "answer", "sales-01", result="GRANTED", token=1, until=T0_MS + 60_000),
        row(1_000, "ask", "support-01"),
        row(1_100, "answer", "support-01", result="HELD"),
        fields={"code": "result"},
        events={"ask": "acquire.begin", "answer": "acquire.end"},
        codes={"GRANTED": "ok", "HELD": "contact_owned"},
    )

    ends = [
        each
        for each in answer.history
        if isinstance(each, OpEvent) and each.type is not OpType.INVOKE
    ]
    assert [(each.agent, each.type, each.code) for each in ends] == [
        ("sales-01", OpType.OK, None),
        ("support-01", OpType.FAIL, "contact_owned"),
    ]


def test_a_step_that_was_left_out_is_found_where_the_log_tells_steps(tmp_path: Path) -> None:
    """spec: S8."""
    steps = {"asked": "send.begin", "going": "dispatch", "done": ["send.ok", "delivery"]}
    rows = [
        row(0, "granted", "sales-01", token=1, n=1),
        row(1_000, "asked", "sales-01", token=1, key="k1", n=2),
        row(1_100, "going", "sales-01", token=1, key="k1", n=3),
        row(1_200, "done", "sales-01", token=1, key="k1", n=4),
    ]

    good = judged(tmp_path, *rows, fields={"seq": "n"}, events=steps)
    bad = judged(tmp_path, *rows[:2], rows[3], fields={"seq": "n"}, events=steps)
    late = judged(tmp_path, rows[3], fields={"seq": "n"}, events=steps)

    assert good.outcome.verdict is Verdict.VALID
    assert rules(bad) == ["sends.steps_in_order"]
    assert rules(late) == []
