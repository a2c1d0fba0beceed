"""A generated contention round: agents that claim, wait, send and release, by a seeded draw."""

from __future__ import annotations

import random

from msgspec.structs import replace

from leaserace.harness.contract import Code
from leaserace.harness.history import History, OpEvent, OpType
from leaserace.harness.rules.base import RaceInfo
from tests.reports.samples import Log, sent

AGENTS = ("sales-01", "support-01", "digest-01", "sequence-01", "billing-01")


def contention(
    operations: int,
    *,
    agents: int = 3,
    contacts: int = 4,
    seed: int = 1,
    name: str = "contention/3",
) -> History:
    """A round of about so many operations."""
    rng = random.Random(seed)
    log = Log(name)
    names = AGENTS[:agents]
    log.mark(0, "race.begin", **RaceInfo(agents=names).to_mark())
    busy_until = dict.fromkeys(names, 1.0)
    held: dict[str, tuple[str, float]] = {}
    tokens: dict[str, int] = {}
    made = 0
    while made < operations:
        agent = min(names, key=lambda each: busy_until[each])
        now = busy_until[agent] + rng.uniform(0.1, 1.5)
        contact = f"contact-0-{rng.randrange(contacts)}"
        owner, until = held.get(contact, ("", 0.0))
        made += 1
        if until > now:
            log.op(agent, "acquire", now, now + 0.6, Code.CONTACT_OWNED, contact=contact)
            _name_owner(log, owner)
            busy_until[agent] = now + 1.2
            continue
        token = tokens[contact] = tokens.get(contact, 0) + 1
        held[contact] = (agent, now + 6)
        log.acquire(agent, now, now + 0.7, token, lease_ms=300, contact=contact)
        intent = f"{contact}.{token}"
        log.send(agent, now + 1, now + 4, token, intent, sent(f"<{intent}@x>"), contact=contact)
        log.delivery(now + 3, intent, f"<{intent}@x>")
        log.op(agent, "release", now + 5, now + 6, _released(token), contact=contact, token=token)
        made += 2
        busy_until[agent] = now + 6.1
    return log.history()


def _released(token: int) -> dict[str, object]:
    return {"answer": "Released", "key": "k", "token": token}


def _name_owner(log: Log, owner: str) -> None:
    """A conflict names who holds the lease."""
    event = log.events[-1]
    assert isinstance(event, OpEvent)
    assert event.type is OpType.FAIL
    log.events[-1] = replace(event, value={**event.value, "owner": owner})
