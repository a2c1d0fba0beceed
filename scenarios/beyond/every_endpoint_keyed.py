"""Race X7: a reply or a forward is tried again, and a key comes back at another endpoint.

Property: every endpoint that sends honours keys, and one key stands for one endpoint too: a retry of a
reply replays it, and the key of a send is refused for a reply (spec: K8, K2, K4). Legal: ``reply k ->
reply lost, reply k -> sent, a replay``. Illegal: the second reply leaves too, since only `send` looks
keys up; or ``send k -> sent, reply k -> sent``.
Isolation: cooldown 0, live leases, right tokens: only the key can stop the second message.

Twin caught: `without_keys_on_reply`, by `sends.once`, `keys.payload_bound` or `scenario.expected`.
Public reports: B50, B57.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Endpoint, Message, Sent, Settings
from leaserace.harness.scenario import Actor, Call, Contact, Race, Variant, scenario

from .steps import claimed

AGAIN = "a reply or a forward was asked for again"
REUSED = "a completed key came to another endpoint"
ASKED = "<question@customers.example.org>"
"""What is answered or passed on."""
KEYED = frozenset({Capability.REPLY})


@scenario(
    number=50,
    title="a reply or a forward is tried again",
    spec=("X7", "K8", "K2", "K4"),
    expected="each leaves once; at another endpoint its key is `key_reused`",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="reply, its answer lost", needs=KEYED, windows=(AGAIN,)),
        Variant(name="reply, by another agent", needs=KEYED, windows=(AGAIN,)),
        Variant(
            name="forward, its answer lost",
            needs=frozenset({Capability.FORWARD}),
            windows=(AGAIN,),
        ),
        Variant(name="sent, then replied", needs=KEYED, windows=(REUSED,)),
    ),
    masked_by="a cooldown, which would refuse the second message for another reason",
    group="beyond",
    quick=True,
)
def every_endpoint_keyed(race: Race) -> None:
    """Try a reply or a forward twice, or use a send's key for a reply."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    if race.variant == "sent, then replied":
        _reused(race, first, contact, message)
    else:
        first.lose_next_reply()
        _call(race, first, contact, message).start().answer()
        race.window(AGAIN)
        again = second if race.variant == "reply, by another agent" else first
        answer = _call(race, again, contact, message).start().answer()
        race.expect(f"{again.id}'s retry", answer, Sent)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _call(race: Race, agent: Actor, contact: Contact, message: Message) -> Call:
    if race.variant.startswith(Endpoint.FORWARD):
        return agent.later.forward(contact, message, ASKED)
    return agent.later.reply(contact, message, ASKED)


def _reused(race: Race, agent: Actor, contact: Contact, message: Message) -> None:
    """The same words under the same key, as a reply."""
    race.expect(f"{agent.id}'s send", agent.send(contact, message), Sent)
    race.window(REUSED)
    answer = agent.reply(contact, message, ASKED)
    race.expect("a reply under the key of the send", answer, Code.KEY_REUSED)
    race.expect("the send once more", agent.send(contact, message), Sent)
