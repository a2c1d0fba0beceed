"""The reference as it is killed, cut down: what a kill campaign must make do with."""

from __future__ import annotations

from collections.abc import Mapping

from leaserace.harness import Capability
from leaserace.reference_impl.durable import DurableTarget


class ShortLeases(DurableTarget):
    """Its leases end while its senders are dead."""

    fixed: Mapping[str, float] = {"lease_s": 0.3}


class NoLookup(DurableTarget):
    """Can't be asked what became of a key, passes no points and has no leases to show."""

    capabilities = frozenset({Capability.SEND, Capability.IDEMPOTENCY, Capability.LEASE})
    points = frozenset[str]()


class ForeignPoint(DurableTarget):
    """Declares a point that no send passes."""

    points = frozenset({"acquire.read", "send.handed_over"})
