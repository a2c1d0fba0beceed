"""The layers in front of the key: the sent-table and the checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import Code, Message, Refused, Sent
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.orchestration import Run, SentTable, StepChanged
from leaserace.reference_impl.recipes import InvalidPart, step_key, thread_key
from leaserace.reference_impl.stores.memory import MemoryStore
from leaserace.reference_impl.stores.protocol import Store
from leaserace.reference_impl.stores.sqlite import SqliteStore
from tests.reference_impl.desk import JANE, SHORT, Desk, make_store
from tests.reference_impl.watch import Crash, crash

ACTION = thread_key(thread="t-1", recipient=JANE, campaign_action="q3/1", policy=SHORT)
NAMES = st.text(st.sampled_from("ab:%~ "), min_size=1, max_size=4).filter(
    lambda text: text == text.strip()
)


@pytest.fixture(params=["memory", "sqlite"])
def own(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    """The application's own store."""
    folder = tmp_path / "application"
    folder.mkdir()
    store = make_store(request.param, folder, clock)
    yield store
    store.close()


def daily(desk: Desk, **fields: str) -> Message:
    """What a scheduled run sends every day: one action of a campaign."""
    lease = desk.lease()
    message = desk.message(lease, subject="Hello", body="Hi\n", intent="i", key=ACTION)
    desk.mailbox().release(JANE, lease.token)
    again = desk.lease()
    return replace(message, token=again.token, **fields)  # type: ignore[arg-type]


def next_day(desk: Desk) -> None:
    """The key's window has closed and every lease is over."""
    desk.clock.advance_ms(86_400_000)


class Counting:
    """A mailbox that counts how often it is asked to send.

    Args:
        mailbox: The real one.
    """

    def __init__(self, mailbox: ReferenceMailbox) -> None:
        self.asked = 0
        self._mailbox = mailbox

    def send(self, message: Message) -> Sent | Refused:
        self.asked += 1
        return self._mailbox.send(message)


# -- the sent-table ------------------------------------------------------------------------------


def test_a_scheduled_run_after_the_window_sends_again_without_the_table(desk: Desk) -> None:
    """The key alone is not enough. spec: O3, K5, K9"""
    desk.mailbox().send(daily(desk))
    next_day(desk)
    answer = desk.mailbox().send(daily(desk))
    assert isinstance(answer, Sent)
    assert not answer.replay
    assert len(desk.transport.taken) == 2


def test_the_table_stops_it(desk: Desk, own: Store) -> None:
    """The mailbox is not even asked. spec: O3, O1"""
    table, mailbox = SentTable(own), Counting(desk.mailbox())
    first = table.send(mailbox, daily(desk))
    assert isinstance(first, Sent)
    next_day(desk)
    assert table.send(mailbox, daily(desk)) == replace(first, replay=True)
    assert (mailbox.asked, len(desk.transport.taken)) == (1, 1)
    assert table.message_id(f" {ACTION.upper()}") == first.message_id


def test_a_key_with_a_run_id_needs_a_name_that_has_none(desk: Desk, own: Store) -> None:
    """spec: O3, K7"""
    table = SentTable(own)
    for run_id in ("monday", "tuesday"):
        key = step_key(
            run_id=run_id, step="send", recipient=JANE, subject="Hello", body="Hi\n", policy=SHORT
        )
        assert isinstance(table.send(desk.mailbox(), daily(desk, key=key), logical=ACTION), Sent)
        next_day(desk)
    assert len(desk.transport.taken) == 1


def test_what_was_refused_is_not_in_the_table(desk: Desk, own: Store) -> None:
    """spec: O1, R"""
    table = SentTable(own)
    refused = table.send(desk.mailbox(), replace(daily(desk), token=99))
    assert isinstance(refused, Refused)
    assert table.message_id(ACTION) is None
    next_day(desk)
    assert isinstance(table.send(desk.mailbox(), daily(desk)), Sent)


@pytest.mark.parametrize(("key", "logical"), [(None, None), ("", None), ("k", "  ")])
def test_a_send_without_a_name_is_a_mistake(
    desk: Desk, own: Store, key: str | None, logical: str | None
) -> None:
    """spec: O1, K1"""
    mailbox = Counting(desk.mailbox())
    with pytest.raises(ValueError, match="give one"):
        SentTable(own).send(mailbox, desk.message(key=key), logical)
    assert mailbox.asked == 0


class DiesAfterSending(Counting):
    def send(self, message: Message) -> Sent | Refused:
        super().send(message)
        raise Crash


def test_the_key_catches_what_the_table_misses(desk: Desk, own: Store) -> None:
    """The application died between the send and the table. spec: O1, K2"""
    table, message = SentTable(own), daily(desk)
    with pytest.raises(Crash):
        table.send(DiesAfterSending(desk.mailbox()), message)
    assert table.message_id(ACTION) is None
    answer = table.send(desk.mailbox(), message)
    assert isinstance(answer, Sent)
    assert answer.replay
    assert table.message_id(ACTION) == answer.message_id
    assert len(desk.transport.taken) == 1


def test_two_processes_that_both_miss_the_table_send_once(desk: Desk, own: Store) -> None:
    """spec: O1, K2"""
    message = daily(desk)

    class Overtaken(Counting):
        def send(self, message: Message) -> Sent | Refused:
            SentTable(own).send(desk.mailbox(), message)
            return super().send(message)

    answer = SentTable(own).send(Overtaken(desk.mailbox()), message)
    assert isinstance(answer, Sent)
    assert SentTable(own).message_id(ACTION) == answer.message_id
    assert len(desk.transport.taken) == 1


# -- checkpoints ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    subject: str
    body: str


class Model:
    """Words every draft differently, as models do."""

    def __init__(self) -> None:
        self.drafts = 0

    def write(self) -> Text:
        self.drafts += 1
        return Text("Hello", f"This is wording {self.drafts}.\n")


def work(
    desk: Desk,
    own: Store,
    model: Model,
    run_id: str,
    dies: Callable[[], object] = lambda: None,
) -> Sent | Refused:
    """An agent's run: draft, send; it may die after the send, before that is kept."""
    run = Run(own, run_id)
    draft = run.step("draft", model.write, Text)
    key = step_key(
        run_id=run_id,
        step="send",
        recipient=JANE,
        subject=draft.subject,
        body=draft.body,
        policy=SHORT,
    )
    message = Message(
        to=JANE, subject=draft.subject, body=draft.body, token=desk.lease().token, key=key
    )

    class Mailbox(Counting):
        def send(self, message: Message) -> Sent | Refused:
            answer = super().send(message)
            dies()
            return answer

    return run.send("send", Mailbox(desk.mailbox()), message)


def test_a_finished_step_is_not_run_again(own: Store) -> None:
    """By another process under the same run id. spec: O1, X13"""
    model = Model()
    first = Run(own, "run-7").step("draft", model.write, Text)
    assert Run(own, "run-7").step("draft", model.write, Text) == first
    assert model.drafts == 1


def test_a_result_is_the_same_at_first_and_after_a_restart(own: Store) -> None:
    """What JSON makes of it, both times. spec: O1"""
    given: Any = {"a": (1, 2)}
    results = [Run(own, "run-7").step("list", lambda: given) for _ in range(2)]
    assert results == [{"a": [1, 2]}, {"a": [1, 2]}]


def test_a_restart_under_the_same_run_id_sends_nothing_new(desk: Desk, own: Store) -> None:
    """It died after the hand-over; the draft is the first one, so the key is too. spec: O1, O2, K7"""
    model = Model()
    with pytest.raises(Crash):
        work(desk, own, model, "run-7", dies=crash)
    desk.clock.advance_ms(60_000)
    answer = work(desk, own, model, "run-7")
    assert isinstance(answer, Sent)
    assert answer.replay
    assert (model.drafts, len(desk.transport.taken)) == (1, 1)


def test_a_whole_run_that_is_replayed_sends_nothing_new_after_the_window(
    desk: Desk, own: Store
) -> None:
    """The finished step answers, where the key no longer would. spec: O1, X13, K5"""
    model = Model()
    first = work(desk, own, model, "run-7")
    next_day(desk)
    assert work(desk, own, model, "run-7") == first
    assert len(desk.transport.taken) == 1


def test_a_restart_under_a_new_run_id_sends_again(desk: Desk, own: Store) -> None:
    """Neither the checkpoints nor the key know it. spec: O2, K9"""
    model = Model()
    with pytest.raises(Crash):
        work(desk, own, model, "run-7", dies=crash)
    desk.clock.advance_ms(60_000)
    assert isinstance(work(desk, own, model, "run-8"), Sent)
    assert len(desk.transport.taken) == 2


def test_a_step_that_raises_has_not_finished(own: Store) -> None:
    """spec: O1"""
    run = Run(own, "run-7")
    with pytest.raises(ZeroDivisionError):
        run.step("divide", lambda: 1 // 0)
    assert run.finished() == []
    assert run.step("divide", lambda: 1) == 1


def test_a_refused_send_is_tried_again_by_a_restart(desk: Desk, own: Store) -> None:
    """spec: O1, R"""
    desk.mailbox().suppress(JANE, "opt-out")
    refused = work(desk, own, Model(), "run-7")
    assert isinstance(refused, Refused)
    assert refused.code is Code.SUPPRESSED
    assert Run(own, "run-7").finished() == ["draft"]
    desk.mailbox().resubscribe(JANE)
    desk.clock.advance_ms(60_000)
    assert isinstance(work(desk, own, Model(), "run-7"), Sent)
    assert Run(own, "run-7").finished() == ["draft", "send"]


def test_a_finished_step_is_not_replayed_for_something_else(own: Store) -> None:
    """spec: O1, K4"""
    run = Run(own, "run-7")
    run.step("draft", lambda: "for Jane", about="jane")
    with pytest.raises(StepChanged, match="'draft' of run 'run-7' was about 'jane', not 'ann'"):
        run.step("draft", lambda: "for Ann", about="ann")


def test_of_two_processes_the_first_to_finish_counts(own: Store) -> None:
    """Both go on with the same draft, and so make the same key. spec: O1, K7"""

    def slow() -> str:
        assert Run(own, "run-7").step("draft", lambda: "the other's") == "the other's"
        return "mine"

    assert Run(own, "run-7").step("draft", slow) == "the other's"


def test_one_effect_that_fails_is_repeated_alone(own: Store) -> None:
    """spec: K7, X18"""
    done: list[str] = []
    broken = {"ann"}

    def write(to: str) -> str:
        if to in broken:
            raise ConnectionError(to)
        done.append(to)
        return f"sent to {to}"

    people = ["jane", "ann", "bob", "jane"]
    with pytest.raises(ExceptionGroup, match="1 of its effects failed") as caught:
        Run(own, "run-7").each("write", people, write)
    assert [str(error) for error in caught.value.exceptions] == ["ann"]
    assert done == ["jane", "bob"]
    broken.clear()
    results = Run(own, "run-7").each("write", people, write)
    assert results == {each: f"sent to {each}" for each in ("jane", "ann", "bob")}
    assert done == ["jane", "bob", "ann"]
    assert Run(own, "run-7").finished() == ["write jane", "write bob", "write ann"]


@given(st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=2, max_size=2, unique=True))
def test_two_different_steps_are_never_one(parts: list[tuple[str, str, str]]) -> None:
    """Whatever stands in run id, name and item. spec: O1, K7"""
    own = MemoryStore(ManualClock())
    for run_id, name, item in parts:
        run = Run(own, run_id)
        run.each(name, [item], lambda item: item)
        run.step(f"{name}:{item}", lambda: "step")
    names = {(run_id, f"{name}:{item}") for run_id, name, item in parts}
    steps = sum(len(Run(own, run_id).finished()) for run_id in {each[0] for each in parts})
    assert steps == len(parts) + len(names)


@pytest.mark.parametrize(("run_id", "name"), [("", "a"), ("a", ""), ("a\n", "a"), ("a", "a\x00")])
def test_a_run_id_or_name_that_can_not_be_used_is_named(own: Store, run_id: str, name: str) -> None:
    """Nothing is run. spec: K7, O1"""
    with pytest.raises(InvalidPart, match="run_id" if run_id in ("", "a\n") else "step"):
        Run(own, run_id).step(name, crash)


def test_a_run_that_is_forgotten_begins_anew(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no other run does, however many steps there are. spec: O1"""
    monkeypatch.setattr("leaserace.reference_impl.orchestration.BATCH_ROWS", 2)
    runs = [Run(own, run_id) for run_id in ("a", "a:b", "ab")]
    for run in runs:
        for number in range(5):
            run.step(f"step {number}", lambda: None)
    runs[0].forget()
    assert [len(run.finished()) for run in runs] == [0, 5, 5]
    assert runs[1].finished() == [f"step {number}" for number in range(5)]


def test_both_layers_outlive_the_process(tmp_path: Path) -> None:
    """spec: O1, O2"""
    path = tmp_path / "application.db"
    before = SqliteStore.create(path, full_sync=True)
    Run(before, "run-7").step("draft", lambda: "kept")

    class Answers:
        def send(self, message: Message) -> Sent | Refused:
            return Sent(message_id=f"<{message.key}>")

    SentTable(before).send(Answers(), Message(to=JANE, subject="s", body="b", key="k"))
    before.close()
    after = SqliteStore(path, full_sync=True)
    assert Run(after, "run-7").step("draft", crash) == "kept"
    assert SentTable(after).message_id("k") == "<k>"
    after.close()
