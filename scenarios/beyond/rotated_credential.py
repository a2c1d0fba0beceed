"""Race K6: the credential changes between two tries.

Property: keys belong to the mailbox, so the same key from another agent, with its own lease and token,
is a retry (spec: K6, K2, S2). Legal: ``A send k -> reply lost, A releases, B acquires, B send k -> A's
answer``. Illegal: B's try executes.
Isolation: cooldown 0, and B holds a live lease with the right token: only the key can stop the mail.

Twins caught: `without_shared_keys`, by `sends.once`; `without_original_answer`, by
`keys.replay_is_original`. Public reports: B52.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Capability, NoReply, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, released

ROTATED = "the retry came from another credential with a lease of its own"


@scenario(
    number=30,
    title="the credential changes between two tries",
    spec=("K6", "K2", "S2"),
    expected="the original answer; nothing new leaves",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(Variant(name="reply lost"), Variant(name="replied")),
    windows=(ROTATED,),
    masked_by="a cooldown; one agent that makes every retry itself",
    group="beyond",
)
def rotated_credential(race: Race) -> None:
    """Each further agent takes the contact over and makes the retry as its own."""
    first, others = race.agents[0], race.agents[1:]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    lost = race.variant == "reply lost"
    if lost:
        first.lose_next_reply()
    race.expect(f"{first.id}'s try", first.send(contact, message), NoReply if lost else Sent)
    released(race, first, contact, lease)
    answers: set[tuple[str, int]] = set()
    for agent in others:
        taken = claimed(race, agent, contact, when="after the release")
        if taken is None:
            return
        race.window(ROTATED)
        retry = agent.send(contact, replace(message, token=taken.token))
        race.expect(f"{agent.id}'s retry", retry, Sent)
        if isinstance(retry, Sent):
            answers.add((retry.message_id, retry.status))
        released(race, agent, contact, taken)
    race.require("different answers to one send's retries", wanted=1, observed=len(answers))
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))
