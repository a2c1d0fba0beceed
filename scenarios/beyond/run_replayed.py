"""Race X13: a whole run is played again, each of its calls with the keys of the first time.

Property: a run that comes again under its own run id claims and releases again, and sends nothing:
every send gets its original answer (spec: K2, K6, K7, O1, O2). Legal: ``run 1: send k1, send k2; run
1 again: send k1 -> replay, send k2 -> replay``. Illegal: a message of the run arrives twice.
Isolation: cooldown 0, and a new lease for the second run: only the keys can stop its mail.

Twins caught: `without_shared_keys`, by `sends.once`, and `without_original_answer`, by
`keys.replay_is_original`. Public reports: B68, B69, B70, B72, B73.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Capability, Message, Sent, Settings
from leaserace.harness.scenario import Actor, Contact, Race, Variant, scenario

from .steps import claimed, released

AGAIN = "a finished run was played again"
STEPS = 3


@scenario(
    number=20,
    title="a whole run is played again",
    spec=("X13", "K2", "K6", "K7", "O2"),
    expected="each step's original answer; nothing new leaves",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="after a crash"),
        Variant(name="from its middle"),
        Variant(name="by another agent"),
    ),
    windows=(AGAIN,),
    masked_by="a cooldown would refuse the second run's mail",
    group="beyond",
    quick=True,
)
def run_replayed(race: Race) -> None:
    """Play a run of several sends, and play it again from its beginning."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    steps = [race.message(contact) for _ in range(STEPS)]
    done = steps[:-1] if race.variant == "from its middle" else steps
    if not _play(race, first, contact, done):
        return
    first.kill()
    first.restart()
    race.window(AGAIN)
    again = second if race.variant == "by another agent" else first
    if not _play(race, again, contact, steps):
        return
    race.require("messages that arrived", wanted=STEPS, observed=race.deliveries(contact))


def _play(race: Race, agent: Actor, contact: Contact, steps: list[Message]) -> bool:
    """Claim, send each step, release."""
    lease = claimed(race, agent, contact, when="for its run")
    if lease is None:
        return False
    for number, step in enumerate(steps, 1):
        answer = agent.send(contact, replace(step, token=lease.token))
        race.expect(f"{agent.id}'s step {number}", answer, Sent)
    return released(race, agent, contact, lease)
