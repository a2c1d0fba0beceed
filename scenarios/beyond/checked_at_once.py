"""Race X5: several sends check the cooldown before any of them was delivered.

Property: authorisation reserves the cooldown, so of the sends that check at once one passes (spec:
S6, S9, C2). Legal: ``send 1 is being handed over, send 2 -> cooldown_active``. Illegal: both leave.
Isolation: replicas of one agent send different messages under one lease and one token, so that
neither lease nor fence nor key can stop the second.

Twins caught: `without_cooldown_reservation` and `without_atomic_send`, both by `cooldown.binds_all`.
Public reports: B104, B105, B106.
"""

from __future__ import annotations

from leaserace.harness.contract import Answer, Capability, Code, Lease, Refused, Sent, Settings
from leaserace.harness.scenario import Call, Contact, Race, Variant, scenario

from .steps import claimed

MEANWHILE = "a second send was checked while the first was under way"
PLAIN = Settings(lease_s=60.0, cooldown_s=60.0, store_deadline_s=1.0)
TRIES_MAX = 20


@scenario(
    number=12,
    title="several sends check the cooldown at once",
    spec=("X5", "S6", "S9", "C2"),
    expected="exactly one passes",
    needs={Capability.LEASE, Capability.SEND, Capability.COOLDOWN},
    settings=PLAIN,
    variants=(
        Variant(name="at once", rounds=5, windows=("tries overlapped",)),
        Variant(
            name="between checks and record",
            points=frozenset({"send.checked"}),
            settings=Settings(lease_s=60.0, cooldown_s=60.0, store_deadline_s=0.1),
            windows=(MEANWHILE,),
        ),
        Variant(
            name="about to be handed over",
            points=frozenset({"send.dispatching"}),
            windows=(MEANWHILE,),
        ),
    ),
    masked_by="lease and fence, as long as one holder sends one message at a time",
    group="beyond",
    quick=True,
)
def checked_at_once(race: Race) -> None:
    """Send different messages to one person at one time; count what passes."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    calls = [
        each.later.send(contact, race.message(contact, lease=lease))
        for each in (first, race.replica(first), race.replica(first))
    ]
    if race.variant == "at once":
        answers = race.together(*calls)
    else:
        between = race.variant == "between checks and record"
        answers = _meanwhile(race, calls, "send.checked" if between else "send.dispatching")
    answers = [_ask_until_told(call, answer) for call, answer in zip(calls, answers, strict=True)]
    passed = sum(isinstance(answer, Sent) for answer in answers)
    race.require("sends that passed", wanted=1, observed=passed)
    for answer in answers:
        race.expect("a send", answer, Sent, Code.COOLDOWN_ACTIVE)
    _later(race, contact, lease)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _meanwhile(race: Race, calls: list[Call], point: str) -> list[Answer]:
    """The first send stands at `point`; the others come meanwhile."""
    stop = race.agents[0].pause_at(point)
    sending = calls[0].start()
    stop.wait()
    race.window(MEANWHILE)
    answers = [call.start().answer() for call in calls[1:]]
    stop.resume()
    return [sending.answer(), *answers]


def _ask_until_told(call: Call, answer: Answer) -> Answer:
    """A busy store decided nothing; ask again."""
    for _ in range(TRIES_MAX):
        if not (isinstance(answer, Refused) and answer.code is Code.STORE_BUSY):
            break
        answer = call.start().answer()
    return answer


def _later(race: Race, contact: Contact, lease: Lease) -> None:
    """One more message, after all answers, finds the cooldown as well."""
    first = race.agents[0]
    answer = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s later send", answer, Code.COOLDOWN_ACTIVE)
