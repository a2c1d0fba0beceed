"""Race X4: the sender dies between the hand-over and the record of its outcome.

Property: what may have been handed over is unknown, never sent again by itself (spec: S8, K10).
Legal: ``send k, crash, restart, send k -> send_status_unknown``, and the look-up says unknown.
Illegal: the retry of the restarted agent executes.
Isolation: cooldown 0 and the lease still held: only the send record can stop the second mail.

Twins caught: `without_dispatching_state` and `without_key_before_delivery`, both by `sends.once`, or by
`scenario.expected` where nothing had left yet.
Public reports: B44, B62, B74, B108, B109, B110.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Capability,
    Code,
    Found,
    SendState,
    Settings,
)
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, retried_until_told, store_now_ms

CRASHED = "the agent crashed with the message handed over or about to be"


@scenario(
    number=11,
    title="the sender crashes between hand-over and record",
    spec=("X4", "S8", "K10"),
    expected="`send_status_unknown`; no second send",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0, transport_timeout_s=0.4, store_deadline_s=0.15),
    variants=(
        Variant(name="handed over", points=frozenset({"send.handed_over"})),
        Variant(name="about to be handed over", points=frozenset({"send.dispatching"})),
    ),
    windows=(CRASHED,),
    masked_by="a cooldown would refuse the retry; workers that never crash",
    group="beyond",
)
def crash_after_hand_over(race: Race) -> None:
    """Kill the sender at the point, start it again, retry until it is told the outcome."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    handed_over = race.variant == "handed over"
    crash = first.kill_at("send.handed_over" if handed_over else "send.dispatching")
    first.start(first.later.send(contact, message))
    crash.wait()
    first.restart()
    race.window(CRASHED)
    answer = retried_until_told(race, first, contact, message, store_now_ms(race, lease))
    race.expect(f"{first.id}'s retry after the crash", answer, Code.SEND_STATUS_UNKNOWN)
    for agent in race.agents[1:]:
        retry = agent.send(contact, message)
        race.expect(f"{agent.id}'s retry", retry, Code.SEND_STATUS_UNKNOWN)
    if Capability.LOOKUP in race.capabilities:
        found = first.lookup(contact, message)
        state = found.state if isinstance(found, Found) else type(found).__name__
        known = state in (SendState.UNKNOWN, SendState.DELIVERED)
        race.require("a look-up that knows it may have left", wanted=True, observed=known)
    arrived = race.deliveries(contact)
    race.require("messages that arrived", wanted=int(handed_over), observed=arrived)
