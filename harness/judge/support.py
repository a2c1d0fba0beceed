"""Which rules the fields of a log can support; the others are named, each with what is missing."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass

from ..contract import Capability
from ..rules import ALL
from ..rules.base import Rule
from .mapping import Mapping, Phase
from .rules import KeyPerSend, RenewalOfAnyLength, StepsSeen

Need = tuple[str, Callable[["Facts"], bool]]
"""What is missing, in words, and whether it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a log holds, by its mapping and by what was seen of it.

    Args:
        mapping: Its fields.
        lease_known: Whether the length of leases is known, from the log or the mapping.
        lease_varies: Whether leases are of several lengths.
        identity: Name of the identity function in use.
    """

    mapping: Mapping
    lease_known: bool = False
    lease_varies: bool = False
    identity: str = "plain"

    def does(self, *names: str) -> bool:
        """Whether any event means one of these."""
        return any(self.mapping.does(name) for name in names)

    def has(self, *names: str) -> bool:
        """Whether all these fields are mapped."""
        return self.mapping.has(*names)

    @property
    def writes(self) -> bool:
        """Whether it tells that mail went out."""
        return self.does("send", "delivery")

    @property
    def names_sends(self) -> bool:
        """Whether lines of one logical send can be told from those of another."""
        return (
            bool(self.mapping.intent.fields)
            or self.has("idempotency_key")
            or self.has("message_id")
        )

    @property
    def tells_refusals(self) -> bool:
        """Whether refusals carry their codes."""
        told = [each for actions in self.mapping.actions().values() for each in actions]
        return self.has("code") or any(each.phase is Phase.FAIL and each.code for each in told)

    @property
    def separate_deliveries(self) -> bool:
        """Whether deliveries are told by lines of their own, apart from the sends' answers."""
        actions = self.mapping.actions().values()
        return self.does("send") and any(
            any(each.f == "delivery" for each in told)
            and all(each.f == "delivery" for each in told)
            for told in actions
        )

    @property
    def tells_steps(self) -> bool:
        """Whether the steps of a send have events of their own."""
        told = [each for actions in self.mapping.actions().values() for each in actions]
        begun = any(each.f == "send" and each.phase is Phase.BEGIN for each in told)
        return begun and self.does("dispatch") and self.does("delivery")

    @property
    def cooldown(self) -> bool:
        """Whether a cooldown was in force."""
        return bool(self.mapping.settings.cooldown_s)


NO_SCRIPT: Need = ("a log has no script to compare with", lambda _: False)
NO_SKEW: Need = ("nobody's clock was put wrong on purpose", lambda _: False)
GRANTS: Need = ("no event means acquire", lambda facts: facts.does("acquire"))
RENEWALS: Need = ("no event means renew", lambda facts: facts.does("renew"))
RELEASES: Need = ("no event means release", lambda facts: facts.does("release"))
SENDS: Need = ("no event means send", lambda facts: facts.does("send"))
WRITES: Need = ("no event means send or delivery", lambda facts: facts.writes)
AGENT: Need = ("fields.agent is not mapped", lambda facts: facts.has("agent"))
TOKEN: Need = ("fields.token is not mapped", lambda facts: facts.has("token"))
SEQ: Need = (
    "fields.seq is not mapped: the commit order is not known",
    lambda facts: facts.has("seq"),
)
LENGTH: Need = (
    "how long leases last is not known (fields.expires_at, fields.ttl_s or settings.lease_s)",
    lambda facts: facts.lease_known,
)
SUPPRESSIONS: Need = ("no event means suppress", lambda facts: facts.does("suppress"))
KEY: Need = ("fields.idempotency_key is not mapped", lambda facts: facts.has("idempotency_key"))
MESSAGE_ID: Need = ("fields.message_id is not mapped", lambda facts: facts.has("message_id"))
PAYLOAD: Need = (
    "fields.subject and fields.body are not mapped",
    lambda facts: facts.has("subject") or facts.has("body"),
)
COOLDOWN: Need = ("settings.cooldown_s is not given, or 0", lambda facts: facts.cooldown)
NAMED_SENDS: Need = (
    "nothing names a logical send (fields.idempotency_key, fields.message_id or intent.fields)",
    lambda facts: facts.names_sends,
)
DELIVERIES: Need = (
    "no line of its own tells a delivery",
    lambda facts: facts.separate_deliveries,
)
CODES: Need = ("refusals carry no codes (fields.code)", lambda facts: facts.tells_refusals)
FROM_START: Need = (
    "a refusal may rest on what was before the log (settings.from_start says it can't)",
    lambda facts: facts.mapping.settings.from_start,
)
OUR_STATE: Need = (
    "the policy state is not in leaserace's own form (state.form)",
    lambda facts: facts.mapping.state.form == "leaserace",
)
LEASE_KEY: Need = ("fields.lease_key is not mapped", lambda facts: facts.has("lease_key"))
FULL_IDENTITY: Need = (
    "contact.identity is plain: that two keys are one person can't be told",
    lambda facts: facts.identity != "plain",
)
OWN_INTENT: Need = (
    "intent.fields is not given: a send is told by its key, so two keys are two sends",
    lambda facts: bool(facts.mapping.intent.fields),
)

OVERRIDES: Need = (
    "no event means unsuppress or override",
    lambda facts: facts.does("unsuppress", "override"),
)
PERSON: Need = ("fields.person is not mapped", lambda facts: facts.has("person"))
CAUSES: Need = ("which suppressions were bounces or complaints is not known", lambda _: False)
WHOLE_MESSAGES: Need = ("a log holds no whole messages, with their headers", lambda _: False)
RECEIVES: Need = ("no event can mean that an inbound message was taken", lambda _: False)
CANCELS: Need = ("no event can mean a cancellation", lambda _: False)
LOADS: Need = ("no field can tell a contact's load", lambda _: False)
UNTRIED: Need = ("what a log must hold for it is not worked out yet", lambda _: False)
BY_NAME: Need = (
    "deliveries are joined to their sends by the message id itself",
    lambda facts: bool(facts.mapping.intent.fields) or facts.has("idempotency_key"),
)
HEADER: Need = (
    "whether the id that is told is the one in the message's header is not known",
    lambda _: False,
)
STEPS: Need = (
    "no events tell authorized, dispatching and delivered apart (send.begin, dispatch, delivery)",
    lambda facts: facts.tells_steps,
)

NEEDS: MappingOf[str, tuple[Need, ...]] = {
    "contract.kept": (NO_SCRIPT,),
    "scenario.expected": (NO_SCRIPT,),
    "clock.store_decides": (NO_SKEW,),
    "contacts.one_key": (GRANTS, LEASE_KEY, FULL_IDENTITY),
    "leases.one_live": (GRANTS, AGENT, LENGTH),
    "leases.renewal_holds": (GRANTS, RENEWALS, AGENT, TOKEN, LENGTH),
    "leases.release_by_holder": (GRANTS, RELEASES, AGENT, TOKEN),
    "leases.live_at_send": (GRANTS, SENDS, AGENT, TOKEN, LENGTH),
    "tokens.rise": (GRANTS, TOKEN),
    "tokens.stale_never_sends": (GRANTS, SENDS, TOKEN),
    "tokens.commit_order": (GRANTS, SENDS, AGENT, TOKEN, SEQ),
    "sends.once": (WRITES, NAMED_SENDS),
    "sends.arrived": (SENDS, NAMED_SENDS, DELIVERIES),
    "sends.message_id_arrives": (SENDS, MESSAGE_ID, DELIVERIES, BY_NAME, HEADER),
    "sends.steps_in_order": (SENDS, KEY, SEQ, STEPS),
    "keys.one_per_send": (WRITES, OWN_INTENT),
    "keys.replay_is_original": (SENDS, KEY, MESSAGE_ID),
    "keys.payload_bound": (SENDS, KEY, PAYLOAD),
    "suppression.wins": (WRITES, SUPPRESSIONS),
    "cooldown.binds_all": (WRITES, NAMED_SENDS, COOLDOWN),
    "cooldown.no_double_contact": (WRITES, NAMED_SENDS, AGENT, COOLDOWN),
    "refusals.explained": (CODES, FROM_START, LENGTH),
    "audit.refusal_has_state": (CODES, SEQ, OUR_STATE),
    "people.decide": (OVERRIDES, PERSON, AGENT),
    "sends.halted": (CAUSES,),
    "messages.fit": (WHOLE_MESSAGES,),
    "inbound.once": (RECEIVES,),
    "cancels.truthful": (CANCELS,),
    "leases.load_counted": (LOADS,),
}
"""Rule to what it needs of a log; a rule that is not here is not judged of one."""


def capabilities(facts: Facts) -> frozenset[Capability]:
    """What the system behind the log can do, as far as the log tells."""
    told = {
        Capability.LEASE: facts.does("acquire"),
        Capability.FENCING: facts.has("token"),
        Capability.SEND: facts.writes,
        Capability.IDEMPOTENCY: facts.has("idempotency_key"),
        Capability.SUPPRESS: facts.does("suppress"),
        Capability.COOLDOWN: facts.cooldown,
        Capability.OVERRIDE: facts.does("override"),
        Capability.AUDIT: facts.has("seq"),
        Capability.ALIASES: facts.identity != "plain",
    }
    return frozenset(name for name, is_there in told.items() if is_there)


def rules_for(facts: Facts) -> tuple[list[type[Rule]], dict[str, str]]:
    """The rules that can be judged, and why each of the others can't."""
    has = capabilities(facts)
    judged: list[type[Rule]] = []
    left: dict[str, str] = {}
    every = [rule for rule in ALL if not rule.needs_mark]  # a log marks no agent as under test
    every.append(KeyPerSend)
    for rule in every:
        needs = NEEDS.get(rule.name, (UNTRIED,))
        missing = [why for why, is_there in needs if not is_there(facts)]
        if not missing and not rule.needs <= has:
            missing = [f"the log does not tell {', '.join(sorted(rule.needs - has))}"]
        if missing:
            left[rule.name] = "; ".join(missing)
        elif rule.name == RenewalOfAnyLength.name and facts.lease_varies:
            judged.append(RenewalOfAnyLength)
        elif rule.name == StepsSeen.name and not facts.mapping.settings.from_start:
            judged.append(StepsSeen)
        else:
            judged.append(rule)
    return judged, left


NEVER = ("contract.kept", "scenario.expected", "clock.store_decides")
"""Rules of a race that no log can support: it has no script, and nobody's clock was put wrong."""

__all__ = ["NEVER", "Facts", "capabilities", "rules_for"]
