"""The reference as a target of the harness."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from leaserace.harness import points
from leaserace.harness.clocks import ManualClock, SystemClock
from leaserace.harness.contract import (
    AgentContext,
    Capability,
    Environment,
    Lease,
    Message,
    Received,
    Sent,
    Settings,
    UsageError,
)
from leaserace.harness.targets import load_target
from leaserace.reference_impl.stores.memory import MemoryStore
from leaserace.reference_impl.stores.sqlite import SqliteStore
from leaserace.reference_impl.target import POINTS, ReferenceTarget, target
from leaserace.reference_impl.transports.memory import MemoryTransport
from tests.reference_impl.watch import Watch


def environment(tmp_path: Path, *, simulated: bool) -> Environment:
    env = Environment(
        workdir=tmp_path,
        smtp=("127.0.0.1", 1),
        settings=Settings(lease_s=0.3),
        transport=MemoryTransport(),
    )
    return replace(env, clock=ManualClock()) if simulated else env


def agent(env: Environment, name: str = "sales-01") -> AgentContext:
    return AgentContext(id=name, incarnation=0, env=env, clock=SystemClock())


@pytest.mark.parametrize("simulated", [True, False])
def test_agents_share_one_store(tmp_path: Path, simulated: bool) -> None:
    env = environment(tmp_path, simulated=simulated)
    starter = ReferenceTarget()
    starter.start(env)
    # With real processes each agent loads the target anew; only the simulator shares the object.
    sales = (starter if simulated else ReferenceTarget()).connect(agent(env))
    support = (starter if simulated else ReferenceTarget()).connect(agent(env, "support-01"))
    lease = sales.acquire("jane@acme.com")
    assert isinstance(lease, Lease)
    assert lease.expires_at_ms - lease.acquired_at_ms == 300
    assert not isinstance(support.acquire("Jane@Acme.com"), Lease)
    assert [record.decision for record in starter.audit()] == ["granted", "contact_owned"]
    now_ms = starter.now_ms()
    assert now_ms is not None
    assert now_ms >= lease.acquired_at_ms
    sales.close()
    support.close()
    starter.stop()


def test_the_simulator_gets_memory_on_its_clock_and_a_fresh_start_each_time(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path, simulated=True)
    runner = ReferenceTarget()
    for _ in range(2):
        runner.start(env)
        assert isinstance(runner.store, MemoryStore)
        lease = runner.connect(agent(env)).acquire("jane@acme.com")
        assert isinstance(lease, Lease)
        assert lease.token == 1
    assert runner.now_ms() == env.clock.now_ms()  # type: ignore[union-attr]
    assert list(tmp_path.iterdir()) == []


def test_before_its_start_there_is_nothing_to_say() -> None:
    idle = ReferenceTarget()
    assert list(idle.audit()) == []
    assert idle.now_ms() is None
    idle.crash_store()
    idle.stop()


def test_the_users_policy_file_holds_where_the_harness_sets_nothing(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('drafting_s = 9\n[aliases]\n"acme.org" = "acme.com"\n', encoding="utf-8")
    env = replace(environment(tmp_path, simulated=True), policy_file=policy)
    runner = ReferenceTarget()
    runner.start(env)
    lease = runner.connect(agent(env)).acquire("jane@acme.org")
    assert isinstance(lease, Lease)
    assert lease.key == "jane@acme.com"
    assert lease.expires_at_ms - lease.acquired_at_ms == 300


def test_a_bad_policy_stops_the_start(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("drafting_s = -9\n", encoding="utf-8")
    env = replace(environment(tmp_path, simulated=True), policy_file=policy)
    with pytest.raises(UsageError, match="drafting_s = -9"):
        ReferenceTarget().start(env)


def test_the_target_is_found_by_its_name() -> None:
    assert load_target("leaserace.reference_impl.target:target") is target
    assert target.name == "leaserace.reference_impl.target:ReferenceTarget"
    assert ReferenceTarget(name="mine").name == "mine"
    assert set(Capability) == target.capabilities


def test_every_declared_point_is_passed_and_no_other(tmp_path: Path) -> None:
    env = environment(tmp_path, simulated=True)
    runner = ReferenceTarget()
    runner.start(env)
    mailbox = runner.connect(agent(env))
    watch = Watch()
    points.listen(watch)
    lease = mailbox.acquire("jane@acme.com")
    assert isinstance(lease, Lease)
    mailbox.renew("jane@acme.com", lease.token)
    message = Message(
        to="jane@acme.com", subject="Hi", body="Hello\n", token=lease.token, key="run:1"
    )
    assert isinstance(mailbox.send(message), Sent)
    mailbox.suppress("jane@acme.com", "opt-out")
    mailbox.receive(Received(event_id="<1@acme.com>", sender="jane@acme.com"))
    mailbox.cancel("run:2")
    mailbox.clean_up()
    mailbox.release("jane@acme.com", lease.token)
    points.listen(None)
    assert set(watch.passed) == POINTS == runner.points


def test_with_real_processes_the_store_is_a_file_in_the_workdir(tmp_path: Path) -> None:
    env = environment(tmp_path, simulated=False)
    runner = ReferenceTarget()
    runner.start(env)
    assert isinstance(runner.store, SqliteStore)
    assert (tmp_path / "mailbox.db").is_file()
    runner.stop()
