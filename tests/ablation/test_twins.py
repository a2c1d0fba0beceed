"""The broken twins: each is the reference less one safeguard, and says so."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import (
    AgentContext,
    Environment,
    Found,
    Lease,
    Mailbox,
    Message,
    Noted,
    Released,
    SendState,
    Sent,
    Settings,
)
from leaserace.harness.rules import ALL
from leaserace.harness.targets import load_target
from leaserace.reference_impl.broken import Twin, twins
from leaserace.reference_impl.broken.canaries import CANARIES
from leaserace.reference_impl.target import ReferenceTarget
from leaserace.reference_impl.transports.memory import MemoryTransport

LINES_MAX = 110
SCENARIOS_OWN = "scenario.expected"
"""What the script of a scenario says, beside the rules."""
TWINS = twins()


def by_name(twin: Twin) -> str:
    return twin.name


def connect(twin: Twin) -> tuple[Mailbox, MemoryTransport]:
    transport = MemoryTransport()
    env = Environment(
        workdir=Path(),
        smtp=("127.0.0.1", 0),
        settings=Settings(),
        clock=ManualClock(),
        transport=transport,
    )
    target = load_target(twin.target)
    target.start(env)
    assert env.clock is not None
    return target.connect(
        AgentContext(id="sales-01", incarnation=0, env=env, clock=env.clock)
    ), transport


def test_there_is_a_twin_for_every_safeguard_the_issues_name() -> None:
    assert len(TWINS) >= 34
    assert len({twin.name for twin in TWINS}) == len(TWINS)


@pytest.mark.parametrize("twin", TWINS, ids=by_name)
def test_a_twin_says_what_is_missing_and_what_must_notice(twin: Twin) -> None:
    module = importlib.import_module(f"leaserace.reference_impl.broken.{twin.name}")
    text = " ".join((module.__doc__ or "").split())
    known = {rule.name for rule in ALL} | {SCENARIOS_OWN}
    assert twin.caught_by
    assert set(twin.caught_by) <= known
    for rule in twin.caught_by:
        assert f"`{rule}`" in text
    assert f"Masked by: {twin.masked_by}." in text
    assert all(number in text for number in twin.spec if f"spec: {number}" in text)
    assert re.search(r"\(spec: [A-Z]\d+", text)


@pytest.mark.parametrize("twin", TWINS, ids=by_name)
def test_a_twin_is_a_reference_with_a_few_lines_changed(twin: Twin) -> None:
    target = load_target(twin.target)
    assert isinstance(target, ReferenceTarget)
    assert target.name == twin.name
    source = importlib.import_module(type(target).__module__).__file__
    assert source is not None
    module = Path(__file__).parents[2] / "reference_impl" / "broken" / f"{twin.name}.py"
    assert len(module.read_text(encoding="utf-8").splitlines()) <= LINES_MAX


@pytest.mark.parametrize("twin", TWINS, ids=by_name)
def test_one_agent_that_does_nothing_wrong_notices_nothing(twin: Twin) -> None:
    """A missing safeguard shows in a race; alone a twin works like the reference."""
    mailbox, transport = connect(twin)
    address = "jane@example.com"
    lease = mailbox.acquire(address)
    assert isinstance(lease, Lease)
    renewed = mailbox.renew(address, lease.token)
    assert isinstance(renewed, Lease)
    message = Message(
        to=address, subject="Hi", body="Hello\n", token=renewed.token, key="run:1", intent="i1"
    )
    sent = mailbox.send(message)
    assert isinstance(sent, Sent)
    assert isinstance(mailbox.send(message), Sent)
    assert mailbox.lookup("run:1") == Found(state=SendState.DELIVERED, message_id=sent.message_id)
    assert isinstance(mailbox.suppress(address, "opt-out"), Noted)
    assert isinstance(mailbox.unsuppress(address, "grace"), Noted)
    assert isinstance(mailbox.override(address, "grace", "she asked"), Noted)
    assert isinstance(mailbox.release(address, renewed.token), Released)
    mailbox.close()
    assert len(transport.taken) == (twin.name != "without_delivery")


def test_each_canary_is_a_twin_that_its_rule_must_catch() -> None:
    known = {twin.name: twin for twin in TWINS}
    for canary in CANARIES:
        twin = known[canary["twin"]]
        assert canary["target"] == twin.target
        assert canary["rule"] in twin.caught_by
