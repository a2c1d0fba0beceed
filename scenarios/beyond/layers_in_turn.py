"""Race O1: one layer is breached, and the next one catches it.

Property: the key at the mailbox, the agent's own table of what it sent and the cooldown each stop what
got past the other (spec: O1, K2, K9, S5, C2). Legal: ``send k -> sent, crash before the table is
written, again send k -> sent, a replay``; ``send k1 -> sent, the task comes again: the table knows it``;
``send k1 -> sent, crash before the table is written, again send k2 -> cooldown_active``. Illegal: the
message arrives a second time.
Isolation: in each variant all layers but one are breached by the agent's own doing.

Twins caught: `without_original_answer`, by `sends.message_id_arrives`; `without_delivery`, by
`sends.arrived`. Public reports: B57, B58, B61, B68, B72.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Capability, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .own_layers import follow_up, task

BREACHED = "a task came again, and a layer was breached"
PLAIN = Settings(lease_s=0.4, cooldown_s=0.0)
HABITS = {
    "the table missed it, the key holds": "well-behaved",
    "the key missed it, the table holds": "uuid-per-call",
    "both missed it, the cooldown holds": "uuid-per-call",
}
ERRAND_S = 20.0


@scenario(
    number=43,
    title="one layer is breached, the next one catches it",
    spec=("O1", "K2", "K9", "S5", "C2"),
    expected="one message, whichever layer is left",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=PLAIN,
    variants=(
        Variant(name="the table missed it, the key holds"),
        Variant(name="the key missed it, the table holds"),
        Variant(
            name="both missed it, the cooldown holds",
            needs=frozenset({Capability.COOLDOWN}),
            settings=replace(PLAIN, cooldown_s=60.0),
        ),
    ),
    windows=(BREACHED,),
    masked_by="each layer hides whether the others would have held",
    group="beyond",
)
def layers_in_turn(race: Race) -> None:
    """Hand one task out twice; where the table is to miss it, the first worker dies before it writes."""
    first = race.agents[0]
    contact = race.contact()
    errand = task(race, contact, HABITS[race.variant], table=True)
    table_misses = race.variant != "the key missed it, the table holds"
    if table_misses:
        first.kill_at("send.returned")
    race.engage(first, follow_up, errand, ERRAND_S).wait()
    race.require("messages of the first time", wanted=1, observed=race.deliveries(contact))
    if table_misses:
        first.restart()
    race.window(BREACHED)
    race.engage(first, follow_up, errand, ERRAND_S).wait()
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))
