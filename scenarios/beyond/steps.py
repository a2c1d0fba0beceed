"""Steps that many of these races share."""

from __future__ import annotations

from leaserace.harness.contract import Lease
from leaserace.harness.scenario import Actor, Contact, Race


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


def store_now_ms(race: Race, lease: Lease) -> int:
    """The store's now when this grant or renewal was made (spec: L5)."""
    if lease.granted_at_ms is not None:
        return lease.granted_at_ms
    return lease.expires_at_ms - round(race.settings.lease_s * 1000)
