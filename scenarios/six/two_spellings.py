"""Race 1: several agents claim one address, each in another spelling.

Property: a person has one lease, however the address is spelled (spec: I1, L3, T).
Legal: ``sales-01 acquire Jane@Acme.com -> token 1``, ``support-01 acquire jane@acme.com ->
contact_owned``. Illegal: both are granted.
Isolation: nothing is sent, so neither fence nor cooldown can hide a second lease.
"""

from __future__ import annotations

from leaserace.harness.contract import Answer, Capability, Code, Lease, Refused, Settings
from leaserace.harness.scenario import Actor, Call, Contact, Race, Variant, scenario

CASINGS = ("{User}@Example.COM", "{user}@example.com", "{USER}@EXAMPLE.com", "{user}@Example.com.")
ALIASES = (
    "{user}@gmail.com",
    "{User}@GoogleMail.com",
    "{user}+news@gmail.com",
    "Jane Doe <{USER}@gmail.com>",
)
BUSY_TRIES_MAX = 50


@scenario(
    number=1,
    title="several agents claim one address in different spellings",
    spec=("I1", "I2", "I3", "L3", "L4", "T"),
    expected="exactly one lease succeeds",
    needs={Capability.LEASE},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="at once", rounds=50, windows=("claims overlapped",)),
        Variant(name="one after the other", rounds=2),
        Variant(name="in the other order", rounds=2),
        Variant(
            name="aliases",
            needs=frozenset({Capability.ALIASES}),
            rounds=10,
            windows=("claims overlapped",),
        ),
        Variant(
            name="between read and grant",
            points=frozenset({"acquire.read"}),
            settings=Settings(lease_s=60.0, cooldown_s=0.0, store_deadline_s=0.1),
            windows=("an agent stood between read and grant",),
        ),
    ),
    masked_by="fence and cooldown: a second holder's mail may be stopped later, the second lease is not",
    group="six",
)
def two_spellings(race: Race) -> None:
    """Every agent claims the contact; exactly one is granted, the others are told who holds it."""
    forms = ALIASES if race.variant == "aliases" else CASINGS
    contact = race.contact(*forms)
    claims = [
        agent.later.acquire(contact, spelling % len(forms))
        for spelling, agent in enumerate(race.agents)
    ]
    match race.variant:
        case "at once" | "aliases":
            answers = race.together(*claims)
        case "between read and grant":
            answers = _second_comes_between(race, claims)
        case "in the other order":
            answers = [claim.start().answer() for claim in reversed(claims)][::-1]
        case _:
            answers = [claim.start().answer() for claim in claims]
    answers = [
        _ask_until_told(race.agents[number], contact, number % len(forms), answer)
        for number, answer in enumerate(answers)
    ]
    granted = sum(isinstance(answer, Lease) for answer in answers)
    race.require("leases granted for one person", wanted=1, observed=granted)
    for agent, answer in zip(race.agents, answers, strict=True):
        race.expect(f"{agent.id}'s claim", answer, Lease, Code.CONTACT_OWNED)


def _second_comes_between(race: Race, claims: list[Call]) -> list[Answer]:
    """The first agent stands between reading the lease and granting it; the others claim."""
    stop = race.agents[0].pause_at("acquire.read")
    first = claims[0].start()
    stop.wait()
    race.window("an agent stood between read and grant")
    others = [claim.start().answer() for claim in claims[1:]]
    stop.resume()
    return [first.answer(), *others]


def _ask_until_told(actor: Actor, contact: Contact, spelling: int, answer: Answer) -> Answer:
    """A busy store decided nothing; ask again until it says who holds the contact."""
    for _ in range(BUSY_TRIES_MAX):
        if not (isinstance(answer, Refused) and answer.code is Code.STORE_BUSY):
            break
        answer = actor.acquire(contact, spelling)
    return answer
