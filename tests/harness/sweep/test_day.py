"""What a day shows: leases, cooldowns and the two ways a cooldown goes wrong."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from leaserace.harness.sweep.cell import Bursts, Cell, quantiles_s
from leaserace.harness.sweep.day import Day
from leaserace.harness.sweep.door import Compact
from leaserace.harness.sweep.lengths import PolicyFile, cooldown_of, lengths_of, ms
from leaserace.harness.sweep.plan import Plan, run_cell
from leaserace.harness.sweep.traffic import DAY_MS, WORK, Kind, Task, Traffic, day

POLICY = PolicyFile()


def cell(
    agents: int = 8, lease_s: float = 60.0, cooldown: str = "by-policy", contacts: int = 300
) -> Cell:
    rule = cooldown_of(cooldown, POLICY)
    plan = Plan(
        agents=(agents,),
        leases=(("lease", lease_s),),
        cooldowns=(rule,),
        traffic=Traffic(contacts=contacts),
        policy=POLICY,
    )
    return run_cell(plan, rule, ("lease", lease_s), agents)


def task(at_ms: int, kind: Kind = Kind.FOLLOW_UP, contact: int = 0, number: int = 0) -> Task:
    made = Task(number, at_ms, kind, contact, Random(number))
    made.think_ms, made.spread_ms = 0, 1_000
    made.calls_ms, made.hang_at, made.crash_at = (20_000, 20_000), -1, -1
    return made


def run(*tasks: list[Task], lease_s: float = 60.0, cooldown: str = "none") -> Day:
    rule = cooldown_of(cooldown, POLICY)
    made = Day(Compact(lengths_of(lease_s, rule, POLICY)), tasks, lease_ms=ms(lease_s))
    made.run()
    return made


def test_a_flat_cooldown_blocks_the_reply_somebody_waits_for() -> None:
    """spec: C2."""
    flat, by_policy = cell(cooldown="7d"), cell(cooldown="by-policy")

    assert flat.blocked_share > 0.5
    assert by_policy.replies_blocked == 0
    assert flat.bursts == 0


def test_no_cooldown_at_all_sends_bursts() -> None:
    """spec: C2."""
    none, by_policy = cell(cooldown="none"), cell(cooldown="by-policy")

    assert none.replies_blocked == 0
    assert none.bursts > 5 * by_policy.bursts


def test_a_longer_lease_is_waited_for_longer_and_lies_idle_more() -> None:
    short, long = cell(lease_s=60.0, cooldown="none"), cell(lease_s=300.0, cooldown="none")

    assert long.refused_wait_s["p50"] > 3 * short.refused_wait_s["p50"]
    assert long.idle_share > 2 * short.idle_share


def test_a_lease_shorter_than_a_call_is_lost_while_its_holder_works() -> None:
    """spec: L6."""
    assert cell(lease_s=10.0).expired > 20 * cell(lease_s=60.0).expired


def test_the_refused_agent_asks_again_when_the_lease_it_was_told_of_ends() -> None:
    """spec: R1."""
    made = run([task(0)], [task(5_000, number=1)])

    assert made.conflicts == 1
    assert list(made.refused_waits_ms) == [60_000 - 5_000 + 1_000]
    assert made.delivered == 2


def test_an_agent_renews_between_two_calls_once_half_its_lease_is_gone() -> None:
    """spec: L6, A2."""
    assert run([task(0)], lease_s=30.0).renewals == 1
    assert run([task(0)], lease_s=60.0).renewals == 0


def test_a_draft_of_a_stale_token_is_thrown_away_and_written_again() -> None:
    """spec: S3, R."""
    first = task(0)
    first.hang_at, first.hang_ms = 1, 120_000
    made = run([first], [task(70_000, number=1)], lease_s=60.0)

    assert made.stale == 1
    assert first.tries == 1
    assert made.delivered == 2


def test_a_process_that_ends_leaves_its_lease_to_end_by_itself() -> None:
    """Its agent meets its own lease on the way back (spec: L3)."""
    first = task(0)
    first.crash_at = 0
    made = run([first], lease_s=60.0)

    assert (made.crashes, made.conflicts, made.delivered) == (1, 1, 1)
    assert made.idle_ms == 60_000 - 10_000


def test_the_third_refusal_by_one_lease_goes_to_a_person() -> None:
    """spec: R2."""
    first = task(0)
    first.calls_ms = (25_000,) * 10
    made = run([first], [task(1_000, number=1)], lease_s=60.0)

    assert made.escalated == 1
    assert made.delivered == 1


def test_a_message_inside_the_cooldown_is_taken_up_after_it_if_that_is_today() -> None:
    """spec: R, C2."""
    made = run([task(0), task(1, number=1)], cooldown="1h")

    assert (made.delivered, made.dropped) == (2, 0)
    made = run([task(0), task(1, number=1)], cooldown="7d")

    assert (made.delivered, made.dropped) == (1, 1)


@pytest.mark.parametrize("cooldown", ["none", "by-policy", "7d"])
def test_every_task_is_sent_given_up_handed_over_or_unfinished(cooldown: str) -> None:
    found = cell(cooldown=cooldown, contacts=40)

    assert found.unfinished >= 0
    assert found.delivered + found.dropped + found.escalated + found.unfinished == found.tasks
    assert found.attempts == found.grants + found.conflicts
    assert 0 <= found.idle_s <= found.held_s
    assert found.held_s <= found.agents * found.hours * 3600 * 2


def test_the_same_seed_gives_the_same_day() -> None:
    assert cell() == cell()


def test_an_agents_own_work_does_not_depend_on_how_many_others_there_are() -> None:
    def kinds(agents: int) -> list[tuple[int, int]]:
        replies = (each for each in day(Traffic(), agents)[0] if each.is_reply)
        return [(each.at_ms, each.contact) for each in replies]

    assert kinds(2) == kinds(16)


def test_a_day_has_the_mix_that_is_written_down() -> None:
    tasks = [each for mine in day(Traffic(per_hour=50.0), 40) for each in mine]
    replies = sum(each.is_reply for each in tasks)
    busiest = Counter(each.contact for each in tasks)
    top = sum(busiest[contact] for contact in range(10)) / len(tasks)

    assert replies == pytest.approx(40 * 8 * 50 * WORK[Kind.REPLY].share, rel=0.05)
    assert top == pytest.approx(0.1, rel=0.1)
    assert all(0 <= each.at_ms < DAY_MS for each in tasks)


def test_a_burst_is_counted_once_until_the_hour_is_quiet_again() -> None:
    bursts = Bursts(2)
    for minute in (0, 10, 20, 30, 200, 210, 220):
        bursts.delivered(1, minute * 60_000)

    assert bursts.count == 2
    assert bursts.contacts == {1}


def test_quantiles_of_nothing_are_zero() -> None:
    from array import array

    assert quantiles_s(array("q")) == {"p50": 0.0, "p95": 0.0, "p99": 0.0}
    assert quantiles_s(array("q", range(1, 101)))["p95"] == pytest.approx(0.096)
