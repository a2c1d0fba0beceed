"""Race X1: two requests with one key are under way at one time.

Property: one of them executes, the others wait, are told that it runs, or replay (spec: K2, K4, S6).
Legal: ``try 1 is being handed over, try 2 -> send_in_progress, try 1 -> 201 <a>, try 3 -> 201 <a>
replay``. Illegal: try 2 executes too, or gets the answer of a send that has not ended.
Isolation: cooldown 0, one lease and one token for all tries: only the key can stop the second mail.

Twins caught: `without_atomic_key` and `without_key_before_delivery`, both by `sends.once`;
`without_shared_keys`, by `scenario.expected`; `without_original_answer`, by
`keys.replay_is_original`. Public reports: B33, B34, B36, B37, B38, B82, B85.
"""

from __future__ import annotations

from leaserace.harness.contract import Answer, Capability, Code, Message, Sent, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

MEANWHILE = "the second try came while the first was under way"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0, store_deadline_s=1.0)


@scenario(
    number=8,
    title="two requests with one key are in flight",
    spec=("X1", "K2", "K4", "S6"),
    expected="one executes; the others wait, are told, or replay",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=PLAIN,
    variants=(
        Variant(name="replicas at once", rounds=5, windows=("tries overlapped",)),
        Variant(
            name="key looked up",
            points=frozenset({"send.key_resolved"}),
            settings=Settings(lease_s=60.0, cooldown_s=0.0, store_deadline_s=0.1),
            windows=(MEANWHILE,),
        ),
        Variant(
            name="about to be handed over",
            points=frozenset({"send.dispatching"}),
            windows=(MEANWHILE,),
        ),
        Variant(
            name="by another agent",
            points=frozenset({"send.handed_over"}),
            windows=(MEANWHILE,),
        ),
    ),
    masked_by="a cooldown would refuse the second try; tries that do not overlap would replay",
    group="beyond",
    quick=True,
)
def same_key_in_flight(race: Race) -> None:
    """Try twice under one key, the second time while the first is under way; count the mail."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    match race.variant:
        case "replicas at once":
            answers = _at_once(race, contact, message)
        case "key looked up":
            answers = _meanwhile(race, contact, message, "send.key_resolved")
        case "about to be handed over":
            answers = _meanwhile(race, contact, message, "send.dispatching")
        case _:
            answers = _meanwhile(race, contact, message, "send.handed_over")
    executed = sum(isinstance(answer, Sent) and not answer.replay for answer in answers)
    race.require("tries that executed", wanted=1, observed=executed)
    for answer in answers:
        race.expect("a try", answer, Sent, Code.SEND_IN_PROGRESS, Code.STORE_BUSY)
    race.expect("a later retry", first.send(contact, message), Sent)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _at_once(race: Race, contact: Contact, message: Message) -> list[Answer]:
    first = race.agents[0]
    tries = [each.later.send(contact, message) for each in (first, race.replica(first))]
    return race.together(*tries)


def _meanwhile(race: Race, contact: Contact, message: Message, point: str) -> list[Answer]:
    """The first try stands at `point`; a replica, or every other agent, tries meanwhile."""
    first = race.agents[0]
    others = race.agents[1:] if point == "send.handed_over" else (race.replica(first),)
    stop = first.pause_at(point)
    sending = first.start(first.later.send(contact, message))
    stop.wait()
    race.window(MEANWHILE)
    answers = [other.send(contact, message) for other in others]
    stop.resume()
    return [sending.answer(), *answers]
