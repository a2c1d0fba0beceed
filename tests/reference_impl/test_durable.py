"""The reference as it is killed: on the disk, and with a receiving side that can be asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from leaserace.harness.clocks import ManualClock, SystemClock
from leaserace.harness.contract import AgentContext, Environment, Lease, Settings
from leaserace.harness.targets import load_target
from leaserace.reference_impl.durable import ABSENT_AFTER_S, DurableTarget
from leaserace.reference_impl.stores.memory import MemoryStore
from leaserace.reference_impl.stores.sqlite import SqliteStore
from leaserace.reference_impl.target import ReferenceTarget, target
from leaserace.reference_impl.transports.memory import MemoryTransport
from leaserace.reference_impl.transports.smtp import SmtpTransport


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return Environment(workdir=tmp_path, smtp=("127.0.0.1", 1), settings=Settings())


def synchronous(runner: ReferenceTarget, env: Environment) -> tuple[int, int]:
    """What SQLite says of the store that `start` made, and of an agent's own; 2 is FULL."""
    runner.start(env)
    context = AgentContext(id="sales-01", incarnation=0, env=env, clock=SystemClock())
    found = []
    for store in (runner.store, runner.store_for(context)):
        assert isinstance(store, SqliteStore)
        found.append(store._connection().execute("PRAGMA synchronous").fetchone()[0])
        store.close()
    return found[0], found[1]


def test_every_commit_waits_for_the_disk(env: Environment) -> None:
    """spec: S8, L4"""
    assert synchronous(DurableTarget(), env) == (2, 2)


def test_elsewhere_it_does_not(env: Environment) -> None:
    assert synchronous(ReferenceTarget(), env) == (1, 1)


def test_it_asks_the_receiving_side_and_believes_it_soon(env: Environment) -> None:
    """spec: K10"""
    durable = load_target("durable")
    assert isinstance(durable, DurableTarget)
    policy = durable.policy_for(env)
    assert policy.absent_after_s == ABSENT_AFTER_S < target.policy_for(env).absent_after_s
    transport = durable.transport_for(env, policy)
    assert isinstance(transport, SmtpTransport)
    with pytest.raises(OSError, match="refused"):
        transport.find("<1@acme.com>")
    plain = target.transport_for(env, policy)
    assert isinstance(plain, SmtpTransport)
    assert plain.find("<1@acme.com>") is None


def test_a_policy_file_decides_where_there_is_one(env: Environment, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("absent_after_s = 7", encoding="utf-8")
    assert DurableTarget().policy_for(replace(env, policy_file=file)).absent_after_s == 7


def test_in_the_simulator_it_is_the_reference(env: Environment) -> None:
    transport = MemoryTransport()
    simulated = replace(env, clock=ManualClock(), transport=transport)
    runner = DurableTarget()
    runner.start(simulated)
    assert isinstance(runner.store, MemoryStore)
    assert runner.transport_for(simulated, runner.policy_for(simulated)) is transport
    context = AgentContext(id="sales-01", incarnation=0, env=simulated, clock=SystemClock())
    assert isinstance(runner.connect(context).acquire("jane@acme.com"), Lease)
