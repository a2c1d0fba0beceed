"""Race O2: an agent dies after its send and is started again under a new run id.

Property: a new run id makes new keys, so what was sent is sent again; checkpoints bring the old run id
back, and its key replays what was under way (spec: O2, O1, K7, K2). Legal: ``run 1: send 1:k -> sent,
crash; run 2: send 2:k -> sent`` without checkpoints, and with them ``run 1 again: send 1:k -> sent, a
replay``. Illegal: the key of the old run, brought back, sends a second time.
Isolation: cooldown 0, and a short lease, so that the dead agent's claim does not outlast its restart.

Twin caught: `without_original_answer`, by `sends.message_id_arrives`. Public reports: B68, B69, B70.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .own_layers import follow_up, task

RESTARTED = "an agent that had sent was started again"
HABITS = {
    "without checkpoints": ("new-run-id", 2),
    "with checkpoints": ("new-run-id-with-checkpoints", 1),
}
"""What the agent does, and how many messages that means."""
ERRAND_S = 20.0


@scenario(
    number=41,
    title="a restart begins under a new run id",
    spec=("O2", "O1", "K7", "K2"),
    expected="sent again without checkpoints; one message with them",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=0.4, cooldown_s=0.0),
    variants=tuple(Variant(name=name) for name in HABITS),
    windows=(RESTARTED,),
    masked_by="a cooldown would refuse the second run's mail",
    group="beyond",
)
def restart_under_a_new_run(race: Race) -> None:
    """Kill the agent when its send is answered and nothing is noted, and start it again."""
    first = race.agents[0]
    contact = race.contact()
    habit, wanted = HABITS[race.variant]
    errand = task(race, contact, habit)
    first.kill_at("send.returned")
    race.engage(first, follow_up, errand, ERRAND_S).wait()
    race.require("messages before the restart", wanted=1, observed=race.deliveries(contact))
    first.restart()
    race.window(RESTARTED)
    race.engage(first, follow_up, errand, ERRAND_S).wait()
    race.require("messages that arrived", wanted=wanted, observed=race.deliveries(contact))
