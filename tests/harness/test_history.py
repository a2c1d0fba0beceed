"""Histories: what is written is read again, merged in one order, and refused where it can't be one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.history import (
    AnyEvent,
    AuditEvent,
    DeliveryEvent,
    FaultEvent,
    History,
    InvalidHistory,
    MarkEvent,
    Operation,
    OpEvent,
    OpType,
    Pairer,
    Writer,
    decode,
    encode,
    read_file,
)
from leaserace.harness.lines import LINE_BYTES_MAX, Lines, validated

TEXT = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
FIELDS: dict[str, Any] = {"t": st.integers(0, 2**62), "race": TEXT}
EVENTS = st.one_of(
    st.builds(
        OpEvent,
        agent=TEXT,
        process=TEXT,
        op=TEXT,
        type=st.sampled_from(OpType),
        f=TEXT,
        contact=TEXT,
        value=st.dictionaries(TEXT, JSON, max_size=3),
        code=st.none() | TEXT,
        **FIELDS,
    ),
    st.builds(FaultEvent, agent=TEXT, fault=TEXT, phase=TEXT, id=TEXT, point=TEXT, **FIELDS),
    st.builds(DeliveryEvent, intent=TEXT, recipient=TEXT, message_id=TEXT, **FIELDS),
    st.builds(AuditEvent, seq=st.integers(0), value=st.just({"key": "k"}), **FIELDS),
    st.builds(MarkEvent, name=TEXT, data=st.dictionaries(TEXT, JSON, max_size=3), **FIELDS),
)


def op(
    op_id: str = "a:1", kind: str = "invoke", t: int = 1, process: str = "a#0", **more: Any
) -> OpEvent:
    """One line of an operation."""
    fields: dict[str, Any] = {"agent": "a", "f": "acquire", **more}
    return OpEvent(t=t, process=process, op=op_id, type=OpType(kind), **fields)


def names(events: Iterable[AnyEvent]) -> list[str]:
    """Names of marks."""
    return [event.name for event in events if isinstance(event, MarkEvent)]


def written(path: Path, *events: AnyEvent, tail: bytes = b"") -> Path:
    path.write_bytes(b"".join(encode(event) for event in events) + tail)
    return path


# -- round trips ----------------------------------------------------------------------------------


@given(EVENTS)
def test_an_event_is_read_as_it_was_written(event: AnyEvent) -> None:
    line = encode(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == event
    assert decode(line.decode()) == event


@given(st.lists(EVENTS, max_size=10))
def test_a_file_of_events_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, events: list[AnyEvent]
) -> None:
    path = tmp_path_factory.mktemp("history") / "a.jsonl"
    History(events).save(path)
    assert read_file(path) == (events, [])


def test_a_writer_appends_and_each_line_is_there_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writer = Writer(path)
    writer(op())
    assert read_file(path)[0] == [op()]
    writer.close()
    again = Writer(path)
    again(op(kind="ok", t=2))
    again.close()
    assert read_file(path)[0] == [op(), op(kind="ok", t=2)]


def test_a_write_that_was_cut_short_is_carried_on(tmp_path: Path) -> None:
    class Stingy:
        def __init__(self) -> None:
            self.taken = b""

        def write(self, data: bytes) -> int:
            self.taken += data[:7]
            return len(data[:7])

    writer = Writer(tmp_path / "a.jsonl")
    writer.close()
    stingy = Stingy()
    writer._file = stingy  # type: ignore[assignment]
    writer(op())
    assert decode(stingy.taken) == op()


# -- merging --------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=4))
def test_a_merge_keeps_each_files_order_and_the_order_of_time(times: list[list[int]]) -> None:
    sources = [
        [MarkEvent(t=t, name=f"{source}.{place}") for place, t in enumerate(sorted(each))]
        for source, each in enumerate(times)
    ]
    merged = History.merge(sources, race="r")
    assert len(merged) == sum(map(len, times))
    assert [event.t for event in merged] == sorted(event.t for event in merged)
    for source, events in enumerate(sources):
        mine = [name for name in names(merged) if name.startswith(f"{source}.")]
        assert mine == names(events)
    assert all(event.race == "r" for event in merged)


def test_equal_times_keep_the_order_of_the_sources() -> None:
    merged = History.merge([[MarkEvent(t=1, name="a")], [MarkEvent(t=1, name="b")]])
    assert names(merged) == ["a", "b"]


def test_an_event_that_names_its_race_keeps_it() -> None:
    merged = History.merge([[MarkEvent(t=1, name="a", race="first")]], race="second")
    assert merged.races() == ["first"]


def test_a_history_is_a_sequence_told_apart_by_race() -> None:
    events: list[AnyEvent] = [
        MarkEvent(t=1, name="run.begin"),
        MarkEvent(t=2, name="a", race="r1"),
        MarkEvent(t=3, name="b", race="r2"),
        MarkEvent(t=4, name="c", race="r1"),
    ]
    history = History(events, ["something"])
    assert (len(history), history[1].name, list(history)) == (4, "a", events)
    assert history.races() == ["r1", "r2"]
    assert names(history.of_race("r1")) == ["a", "c"]
    assert history.of_race("r2").notices == ("something",)


# -- reading what is broken -----------------------------------------------------------------------


@pytest.mark.parametrize("tail", [b'{"e":"op","t":1', b"\x00\x00", b'{"e":"op"}\n', b"\xff\xfe\n"])
def test_a_last_line_that_a_crash_cut_off_is_left_out_and_said(tmp_path: Path, tail: bytes) -> None:
    path = written(tmp_path / "sales-01.jsonl", op(), tail=tail)
    history = History.load(path)
    assert list(history) == [op()]
    (notice,) = history.notices
    assert "sales-01.jsonl: the last line is cut off" in notice


def test_a_last_line_without_its_newline_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", op(), tail=encode(op(kind="ok", t=2)).strip())
    assert len(History.load(path)) == 2


def test_blank_lines_and_windows_line_ends_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\r\n" + encode(op()).replace(b"\n", b"\r\n") + b"\n  \n")
    assert list(History.load(path)) == [op()]


def test_an_empty_file_is_an_empty_history(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl")
    assert (list(History.load(path)), History.load(path).notices) == ([], ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"hello", "not an event: JSON is malformed"),
        (b"[1, 2]", "not an event: Expected `object`"),
        (b'{"e":"op","t":1}', "missing required field"),
        (b'{"e":"op","t":"noon"}', "not an event"),
        (b'{"e":"else","t":1}', "not an event: Invalid value 'else'"),
        (b'{"e":"mark","t":1,"name":"x","more":1}', "unknown field"),
    ],
)
def test_a_broken_line_before_the_last_names_file_and_line(
    tmp_path: Path, line: bytes, said: str
) -> None:
    path = written(tmp_path / "a.jsonl", op(), tail=b"\n" + line + b"\n" + encode(op("a:2")))
    with pytest.raises(InvalidHistory, match=r"a\.jsonl:3: ") as caught:
        History.load(path)
    assert said in str(caught.value)


def test_a_line_of_many_megabytes_is_no_event(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * (LINE_BYTES_MAX + 1))
    with pytest.raises(InvalidHistory, match=r"a\.jsonl:1: longer than"):
        History.load(path)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        History.load(tmp_path / "none.jsonl")
    with pytest.raises(IsADirectoryError):
        History.load(tmp_path)


def test_a_file_of_another_version_is_refused_by_its_number(tmp_path: Path) -> None:
    mark = MarkEvent(t=1, name="race.begin", data={"version": 99})
    with pytest.raises(InvalidHistory, match=r"a\.jsonl:1: it is of version 99; this leaserace"):
        History.load(written(tmp_path / "a.jsonl", mark))


# -- what every history keeps ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([op(kind="ok")], r"completion of a:1 \(ok\) without an invoke"),
        ([op(), op(kind="ok"), op(kind="ok")], "without an invoke"),
        ([op(), op()], "operation a:1 is invoked twice"),
        ([op(), op(kind="ok"), op()], "operation a:1 is invoked twice"),
        ([op(), op("a:2")], "process a#0 invokes a:2 while a:1 is open"),
        ([op(), op(kind="info"), op("a:2")], "process a#0 acts again"),
        ([op(), op(kind="ok", process="b#0")], "invoked by a#0, completed by b#0"),
        ([op(), op(kind="ok", f="send")], "invoked as acquire, completed as send"),
        ([op(t=5), op(kind="ok", t=4)], "time goes back from 5 to 4 ns"),
    ],
)
def test_what_can_not_be_a_history_is_refused(
    tmp_path: Path, events: list[AnyEvent], said: str
) -> None:
    with pytest.raises(InvalidHistory, match=rf"^event {len(events)}: .*{said}"):
        History(events).validate()
    path = written(tmp_path / "a.jsonl", *events)
    with pytest.raises(InvalidHistory, match=rf"^a\.jsonl:{len(events)}: .*{said}"):
        History.load(path)


def test_an_agent_goes_on_as_its_next_process_after_an_unknown_outcome() -> None:
    events = [op(), op(kind="info", t=2), op("a:2", t=3, process="a#1")]
    history = History(events)
    history.validate()
    first, second = history.operations()
    assert (first.type, second.type) == (OpType.INFO, OpType.INVOKE)


def test_names_are_a_races_own() -> None:
    """Times too: in the simulator each race begins at the same instant."""
    History([op(race="r1", t=9), op(race="r2", t=1)]).validate()


def test_names_of_a_race_that_is_over_are_forgotten() -> None:
    end = MarkEvent(t=2, name="race.end")
    other = MarkEvent(t=2, name="race.begin", data={})
    History([op(), other, end, op(t=3), op(kind="info", t=4)]).validate()


def test_an_operation_joins_its_two_lines() -> None:
    invoke = op(value={"address": "jane@example.com"}, contact="jane")
    other = op("b:1", process="b#0", t=2)
    done = op(kind="fail", t=3, code="contact_owned", value={"owner": "b"}, contact="jane")
    first, second = History([invoke, other, done]).operations()
    assert (first.begin, first.end, second.begin, second.end) == (1, 3, 2, None)
    assert (first.invoked_ns, first.completed_ns, first.code) == (1, 3, "contact_owned")
    assert (first.args, first.answer) == ({"address": "jane@example.com"}, {"owner": "b"})
    assert repr(first) == "<a:1 a acquire jane fail contact_owned>"
    assert isinstance(second, Operation)


def test_operations_without_a_completion_stay_open() -> None:
    pairer = Pairer()
    opened = pairer.feed(op())
    assert pairer.open_operations() == [opened]
    pairer.feed(op(kind="ok"))
    assert not pairer.open_operations()


# -- large files ----------------------------------------------------------------------------------


def test_a_long_file_is_checked_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        for race in range(40):
            for number in range(500):
                name = f"a:{number}"
                file.write(encode(op(name, race=f"r{race}")))
                file.write(encode(op(name, "ok", race=f"r{race}")))
            file.write(encode(MarkEvent(t=1, name="race.end", race=f"r{race}")))
    tracemalloc.start()
    try:
        lines = Lines(path)
        count = sum(1 for _ in validated(lines))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 40 * 1001
    assert lines.where == f"long.jsonl:{count}"
    assert peak < 1_000_000 < path.stat().st_size
