"""Race S9, key and cooldown: a send was not answered, and the contact is handed on.

Property: a message that may have been taken keeps the cooldown it reserved; only proof that no message
exists frees it (spec: S9, K10, C2). Legal: ``A send -> send_status_unknown, A release, B acquire, B
send -> cooldown_active``; ``A send -> refused by the receiving side, …, B send -> sent``. Illegal: B
writes to somebody who has A's mail; or nobody may write because of a mail that never existed.
Isolation: live leases, right tokens and fresh keys: only the cooldown can refuse.

Twins caught: `without_cooldown_after_unknown` and `without_shared_cooldown`, by
`cooldown.no_double_contact`; `without_freed_cooldown`, by `refusals.explained`. Public reports: B104,
B109.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, NoReply, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, handed_on

HANDED_ON = "another agent held the lease after a send that failed"
PLAIN = Settings(lease_s=60.0, cooldown_s=60.0, transport_timeout_s=0.3)


@scenario(
    number=61,
    title="the cooldown of a send that was not answered",
    spec=("S9", "K10", "C2"),
    expected="it stays while the mail may exist, and only then",
    needs={Capability.LEASE, Capability.SEND, Capability.COOLDOWN},
    settings=PLAIN,
    variants=(Variant(name="not answered"), Variant(name="surely refused")),
    windows=(HANDED_ON,),
    masked_by="a lease that is still held; a transport that always answers",
    group="beyond",
)
def cooldown_of_unknown(race: Race) -> None:
    """Fail before or after the effect, hand the contact on, and write."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    taken = race.variant == "not answered"
    race.transport("silent" if taken else "refuse")
    answer = first.send(contact, race.message(contact, lease=lease))
    race.transport("accept")
    unknown = (Code.SEND_STATUS_UNKNOWN, NoReply)
    wanted = unknown if taken else (Code.INVALID_MESSAGE, *unknown)
    race.expect(f"{first.id}'s send that failed", answer, *wanted)
    next_lease = handed_on(race, contact, first, lease, second)
    if next_lease is None:
        return
    race.window(HANDED_ON)
    answer = second.send(contact, race.message(contact, lease=next_lease))
    race.expect(f"{second.id}'s send", answer, Code.COOLDOWN_ACTIVE if taken else Sent)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))
