"""Race X6: one person is written in forms that a comparison of letters does not join.

Property: alias, plus tag, dots, IDNA and NFC/NFD forms of an address are one contact in the claim,
the release and the list (spec: I1, I2, I3). Legal: ``A acquire jane@gmail.com, B acquire
jane+news@googlemail.com -> contact_owned``. Illegal: B is granted the same person.
Isolation: no mail is sent and nothing expires: only the key of the recipient can join the forms.

Twins caught: `without_domain_alias`, `without_case_folding`, `without_tag_folding`,
`without_dot_folding`, `without_one_domain_form` and `without_composed_letters`, all by
`leases.one_live`.
Public reports: B86, B88, B89, B90, B92, B93.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Noted, Released, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed

ASKED = "the other form was claimed while the lease was live"
FORMS = {
    "plus tag": ("{user}@gmail.com", "{user}+news@gmail.com"),
    "dots": ("j{user}@gmail.com", "j.{user}@gmail.com"),
    "domain alias": ("{user}@gmail.com", "{User}@GoogleMail.com"),
    "punycode": ("{user}@m\u00fcnchen.example.com", "{user}@xn--mnchen-3ya.example.com"),
    "composed letters": ("jos\u00e9.{user}@example.com", "jose\u0301.{user}@example.com"),
    "display name": ("{user}@example.com", ' "Doe, Jane" <{User}@Example.COM> '),
    "trailing dot": ("{user}@example.com", "{USER}@example.com."),
}
ALIASES = frozenset({Capability.ALIASES})


@scenario(
    number=13,
    title="alias, tag, dot, IDNA and Unicode forms of one person",
    spec=("X6", "I1", "I2", "I3"),
    expected="all forms are one contact",
    needs={Capability.LEASE, Capability.SUPPRESS, Capability.SEND},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=tuple(
        Variant(name=name, needs=ALIASES if "gmail" in forms[0] else frozenset())
        for name, forms in FORMS.items()
    ),
    windows=(ASKED,),
    masked_by="contact data that knows one form of each person only",
    group="beyond",
)
def one_person_many_forms(race: Race) -> None:
    """Claim in one form, meet it in the other; list in one form, send to the other."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact(*FORMS[race.variant])
    lease = claimed(race, first, contact)
    if lease is None:
        return
    race.window(ASKED)
    owned = second.acquire(contact, 1)
    race.expect(f"{second.id}'s claim in the other form", owned, Code.CONTACT_OWNED)
    released = first.release(contact, lease, 1)
    race.expect(f"{first.id}'s release in the other form", released, Released)
    taken = claimed(race, second, contact, 1, "in the other form")
    if taken is None:
        return
    race.expect(f"{first.id}'s opt-out entry", first.suppress(contact, "opt-out"), Noted)
    answer = second.send(contact, race.message(contact, lease=taken, spelling=1))
    race.expect(f"{second.id}'s send to the other form", answer, Code.SUPPRESSED)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))
