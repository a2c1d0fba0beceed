"""Where one more agent stops paying."""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.sweep.cell import Cell
from leaserace.harness.sweep.knee import knees_of

QUIET = {"p50": 0.0, "p95": 0.0, "p99": 0.0}
ONE = Cell(
    agents=2, lease="60s", cooldown="none", lease_s=60.0, tasks=300, attempts=300, conflicts=3,
    grants=297, renewals=0, wait_s=QUIET, waited=3, refused_wait_s=QUIET, reply_s=QUIET, held_s=1.0,
    idle_s=0.0, delivered=300, replies=100, replies_blocked=0, dropped=0, bursts=0,
    burst_contacts=0, escalated=0, expired=0, stale=0, crashes=0, unfinished=0, hours=8.0,
)  # fmt: skip


def test_a_mailbox_where_every_step_pays_takes_at_least_the_most_that_was_swept() -> None:
    (knee,) = knees_of([ONE, replace(ONE, agents=4, tasks=600, delivered=600)])

    assert (knee.agents, knee.is_open) == (4, True)
    assert knee.sentence.startswith("this mailbox takes at least 4 agents: ")


def test_agents_whose_work_is_mostly_not_sent_do_not_pay() -> None:
    cells = [
        ONE,
        replace(ONE, agents=4, tasks=600, delivered=500),
        replace(ONE, agents=8, tasks=1200, delivered=700),
    ]
    (knee,) = knees_of(cells)

    assert (knee.agents, knee.is_open) == (4, False)
    assert knee.sentence == (
        "this mailbox takes about 4 agents: only 33% of the tasks agents 5 to 8 bring get sent"
    )


def test_a_mailbox_that_refuses_more_than_a_tenth_of_the_claims_is_full() -> None:
    (knee,) = knees_of([ONE, replace(ONE, agents=4, tasks=600, delivered=600, conflicts=60)])

    assert "with 4 agents 20% of the claims are refused" in knee.sentence


def test_a_mailbox_whose_grants_come_after_more_than_five_minutes_is_full() -> None:
    slow = replace(ONE, agents=4, tasks=600, delivered=600, wait_s=QUIET | {"p95": 301.0})
    (knee,) = knees_of([ONE, slow])

    assert "one grant in 20 is waited for over 5 min" in knee.sentence


def test_fewer_than_the_fewest_is_said_as_such() -> None:
    (knee,) = knees_of([replace(ONE, delivered=100)])

    assert knee.agents == 0
    assert knee.sentence.startswith("this mailbox takes fewer than 2 agents: only 33% of the tasks")


def test_both_failures_of_a_cooldown_are_said_beside_the_number() -> None:
    """spec: C2."""
    (knee,) = knees_of([replace(ONE, replies_blocked=20, bursts=1, burst_contacts=1)])

    assert "the cooldown blocks 20% of the replies somebody waits for" in knee.sentence
    assert "1 burst reached 1 contact (with 2 agents)" in knee.sentence


def test_a_day_without_a_task_says_nothing() -> None:
    (knee,) = knees_of([replace(ONE, tasks=0, delivered=0, attempts=0, conflicts=0)])

    assert knee.sentence == "no task arrived: nothing can be said; raise --rate"
