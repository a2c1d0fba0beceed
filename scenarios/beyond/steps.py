"""Steps that many of these races share."""

from __future__ import annotations

from leaserace.harness.contract import Answer, Code, Lease, Message, Refused, Released
from leaserace.harness.scenario import Actor, Contact, Race

STEP_MS = 100
TRIES_MAX = 40


def claimed(
    race: Race, agent: Actor, contact: Contact, spelling: int = 0, when: str = ""
) -> Lease | None:
    """The agent's new lease, or None with a finding if it was not granted one.

    Args:
        race: The race.
        agent: Who claims.
        contact: Whom.
        spelling: Number of the spelling to use.
        when: For the report, such as ``after the release``.
    """
    answer = agent.acquire(contact, spelling)
    race.expect(f"{agent.id}'s claim {when or 'of a fresh contact'}", answer, Lease)
    return answer if isinstance(answer, Lease) else None


def released(race: Race, agent: Actor, contact: Contact, lease: Lease, spelling: int = 0) -> bool:
    """The agent gives its lease back; False with a finding if it could not."""
    answer = agent.release(contact, lease, spelling)
    return race.expect(f"{agent.id}'s release", answer, Released)


def handed_on(
    race: Race, contact: Contact, giver: Actor, lease: Lease, taker: Actor
) -> Lease | None:
    """One agent gives its lease back and the other claims; None with a finding if it was not granted.

    Args:
        race: The race.
        contact: Whom.
        giver: Who holds the lease.
        lease: Its lease.
        taker: Who is next.
    """
    released(race, giver, contact, lease)
    return claimed(race, taker, contact, when="after the release")


def retried_until_told(
    race: Race, agent: Actor, contact: Contact, message: Message, now_ms: int
) -> Answer:
    """What a retry is told once the dead try no longer counts as running; it has a deadline of its own.

    Args:
        race: The race.
        agent: Who retries.
        contact: Whom.
        message: The message.
        now_ms: The store's now, or before it.
    """
    answer = agent.send(contact, message)
    for _ in range(TRIES_MAX):
        if not (isinstance(answer, Refused) and answer.code is Code.SEND_IN_PROGRESS):
            break
        now_ms += STEP_MS
        race.pass_store_time(now_ms)
        answer = agent.send(contact, message)
    return answer


def store_now_ms(race: Race, lease: Lease) -> int:
    """The store's now when this grant or renewal was made (spec: L5)."""
    if lease.granted_at_ms is not None:
        return lease.granted_at_ms
    return lease.expires_at_ms - round(race.settings.lease_s * 1000)
