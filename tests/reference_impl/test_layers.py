"""The reference with a layer off: that one does nothing, the others are as ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import (
    AgentContext,
    Code,
    Environment,
    Found,
    Lease,
    Message,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
    Settings,
)
from leaserace.reference_impl.layers import LAYERS, LayeredTarget
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.transports.memory import MemoryTransport

JANE = "jane.doe@acme.com"
COOLDOWN_S = 600.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_800_000_000_000)


class Rig:
    """A target on a clock and a transport of the test's."""

    def __init__(self, target: LayeredTarget, clock: ManualClock, folder: Path) -> None:
        self.transport = MemoryTransport()
        self._target = target
        self._clock = clock
        self._env = Environment(
            workdir=folder,
            smtp=("localhost", 0),
            settings=Settings(lease_s=60.0, cooldown_s=0.0),
            clock=clock,
            transport=self.transport,
        )

    def start(self, cooldown_s: float = 0.0) -> None:
        settings = replace(self._env.settings, cooldown_s=cooldown_s)
        self._env = replace(self._env, settings=settings)
        self._target.start(self._env)

    def mailbox(self, agent: str) -> ReferenceMailbox:
        context = AgentContext(id=agent, incarnation=0, env=self._env, clock=self._clock)
        return self._target.connect(context)


@pytest.fixture(params=[(False, True), (True, False), (False, False)])
def rig(
    request: pytest.FixtureRequest, clock: ManualClock, tmp_path: Path
) -> Iterator[tuple[Rig, bool, bool]]:
    key, lease = request.param
    target = LAYERS.target(key=key, lease=lease)
    yield Rig(target, clock, tmp_path), key, lease
    target.stop()


def message(token: int, key: str = "run:step:jane") -> Message:
    return Message(to=JANE, subject="Hello", body="Hi\n", token=token, key=key, intent="i")


def granted(answer: Lease | Refused) -> Lease:
    assert isinstance(answer, Lease)
    return answer


def test_without_the_key_a_retry_is_a_new_request_and_a_look_up_finds_nothing(
    clock: ManualClock, tmp_path: Path
) -> None:
    """spec: O1, K2"""
    rig = Rig(LAYERS.target(key=False, lease=True), clock, tmp_path)
    rig.start()
    mailbox = rig.mailbox("sales-01")
    first = message(granted(mailbox.acquire(JANE)).token)
    answers = [mailbox.send(first), mailbox.send(first)]
    assert all(isinstance(answer, Sent) and not answer.replay for answer in answers)
    assert len(rig.transport.taken) == 2
    assert len({answer.message_id for answer in answers if isinstance(answer, Sent)}) == 2
    assert mailbox.lookup("run:step:jane") == Found(state=SendState.ABSENT)


def test_without_the_key_its_form_is_looked_at_all_the_same(
    clock: ManualClock, tmp_path: Path
) -> None:
    """spec: K3, K4"""
    rig = Rig(LAYERS.target(key=False, lease=True), clock, tmp_path)
    rig.start()
    mailbox = rig.mailbox("sales-01")
    answer = mailbox.send(message(granted(mailbox.acquire(JANE)).token, key=" "))
    assert isinstance(answer, Refused)
    assert answer.code is Code.KEY_MISSING


def test_requests_are_counted_from_one_again_after_a_start(
    clock: ManualClock, tmp_path: Path
) -> None:
    """The same run gives the same Message-IDs."""
    ids = []
    for _ in range(2):
        rig = Rig(LAYERS.target(key=False, lease=True), clock, tmp_path)
        rig.start()
        mailbox = rig.mailbox("sales-01")
        answer = mailbox.send(message(granted(mailbox.acquire(JANE)).token))
        assert isinstance(answer, Sent)
        ids.append(answer.message_id)
    assert ids[0] == ids[1]


def test_without_the_lease_nobody_is_kept_out_and_no_token_is_compared(
    clock: ManualClock, tmp_path: Path
) -> None:
    """spec: O1, L3, S3"""
    rig = Rig(LAYERS.target(key=True, lease=False), clock, tmp_path)
    rig.start()
    sales, support = rig.mailbox("sales-01"), rig.mailbox("support-01")
    one, two = granted(sales.acquire(JANE)), granted(support.acquire(JANE))
    assert two.token > one.token
    clock.advance_ms(3_600_000)
    assert isinstance(sales.send(message(one.token, "a")), Sent)
    assert isinstance(support.send(message(two.token, "b")), Sent)
    assert isinstance(sales.renew(JANE, one.token), Lease)
    assert isinstance(sales.release(JANE, one.token), Released)
    assert isinstance(sales.renew(JANE, one.token), Lease)
    assert isinstance(sales.send(message(one.token, "c")), Sent)


def test_the_other_layers_are_as_ever(rig: tuple[Rig, bool, bool]) -> None:
    """Key, lease, suppression and cooldown each refuse what they refuse. spec: O1, C1, C2"""
    desk, key, lease = rig
    desk.start(COOLDOWN_S)
    sales, support = desk.mailbox("sales-01"), desk.mailbox("support-01")
    held = granted(sales.acquire(JANE))
    taken = support.acquire(JANE)
    assert isinstance(taken, Refused) is lease
    first = message(held.token)
    assert isinstance(sales.send(first), Sent)
    again = sales.send(first)
    if key:
        assert isinstance(again, Sent)
        assert again.replay
    else:
        assert isinstance(again, Refused)
        assert again.code is Code.COOLDOWN_ACTIVE
    cooling = sales.send(message(held.token, "another"))
    assert isinstance(cooling, Refused)
    assert cooling.code is Code.COOLDOWN_ACTIVE
    assert isinstance(support.suppress(JANE, "opt-out"), Noted)
    silenced = sales.send(message(held.token, "one-more"))
    assert isinstance(silenced, Refused)
    assert silenced.code is Code.SUPPRESSED


def test_it_says_what_it_is_without() -> None:
    assert LAYERS.target(key=False, lease=False).name == "reference without key and lease"
    assert LAYERS.target(key=True, lease=False).name == "reference without lease"
    assert "without" not in LAYERS.target(key=True, lease=True).name


def test_an_application_keeps_its_rows_apart_from_the_mailbox(clock: ManualClock) -> None:
    """spec: O1"""
    application = LAYERS.application(clock)
    assert application.table.message_id("a") is None
    assert application.run("r").step("one", lambda: 1, int) == 1
    assert application.run("r").step("one", lambda: 2, int) == 1
    assert LAYERS.application(clock).run("r").step("one", lambda: 2, int) == 2
