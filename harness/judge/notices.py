"""What was assumed about a log, as sentences: a verdict is worth no more than these."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingOf
from datetime import UTC, datetime

from .mapping import Mapping
from .scan import Scanned
from .skew import told

_ASSUMED = {
    "line twice": "{n} lines stand in the log twice and were counted once.",
    "end without begin": (
        "{n} lines tell the end of a call whose begin is not in the log; it was taken to have begun "
        "no earlier than time.call_s before."
    ),
    "delivery without a send": (
        "{n} deliveries belong to no send in the log; each was taken as sent at most time.settle_s "
        "before, by whoever its line names."
    ),
    "still on its way at the end": (
        "{n} acknowledged messages had not arrived when the log ended; they are younger than "
        "time.settle_s and were not held against anybody."
    ),
    "contact too large for commit order": (
        "{n} contacts have more lines than fit into memory; they were not judged by commit order."
    ),
    "send under a lease from before the log": (
        "{n} sends carry a token that was granted before the log began; their lease was not judged."
    ),
    "renew under a lease from before the log": (
        "{n} renewals of leases that were granted before the log began were left out."
    ),
    "release under a lease from before the log": (
        "{n} releases of leases that were granted before the log began were left out."
    ),
}


def assumptions(mapping: Mapping, scanned: Scanned, assumed: MappingOf[str, int]) -> Iterator[str]:
    """What was assumed, one sentence each, the gravest first.

    Args:
        mapping: What the log's fields are.
        scanned: What the first pass found.
        assumed: What was filled in while building the history.
    """
    yield from scanned.problems.notices()
    yield from _order(mapping, scanned)
    yield from _zones(mapping, scanned)
    yield from _clocks(mapping, scanned)
    yield from _meaning(mapping)
    yield from _leases(mapping, scanned)
    for what, count in sorted(assumed.items()):
        if count and what in _ASSUMED:
            yield _ASSUMED[what].format(n=f"{count:,}")
    yield from scanned.left.notices()
    if scanned.strange:
        yield (
            f"{scanned.strange:,} recipients are no addresses (first: {scanned.strange_example}); "
            "each stands for itself."
        )


def moment(t_ns: int) -> str:
    """A time for a person, in UTC."""
    return datetime.fromtimestamp(t_ns / 1e9, UTC).isoformat(timespec="milliseconds")


def _order(mapping: Mapping, scanned: Scanned) -> Iterator[str]:
    seen = scanned.seen
    yield (
        f"The log covers {moment(seen.first_ns)} to {moment(seen.last_ns)}: {seen.lines:,} lines, "
        f"from which {seen.rows:,} records were judged."
    )
    by_commit = mapping.has("seq")
    if seen.backwards:
        back_s = seen.furthest_back_ns / 1e9
        how = "order by seq was kept" if by_commit else "they were sorted by time"
        yield (
            f"{seen.backwards:,} lines are older than the line before them, by up to {back_s:,.3f} s, "
            f"first line {seen.back_line:,} (out of order, or a clock that was put back): {how}."
        )
    if not by_commit and seen.resolution_ns >= 10**6:
        what = "second" if seen.resolution_ns == 10**9 else "millisecond"
        yield f"Times are to the {what}: what stands within one was taken as simultaneous."


def _zones(mapping: Mapping, scanned: Scanned) -> Iterator[str]:
    zone = mapping.time.zone
    if scanned.no_zone:
        how = f"the mapping says {zone}" if zone else "UTC was assumed (time.zone says otherwise)"
        yield f"{scanned.no_zone:,} times carry no zone: {how}."
    if scanned.twice:
        yield (
            f"{scanned.twice:,} local times exist twice, in the hour when {zone} puts its clocks "
            "back: the first of the two was assumed."
        )
    if scanned.never:
        yield f"{scanned.never:,} local times do not exist in {zone}: its clocks skip that hour."


def _clocks(mapping: Mapping, scanned: Scanned) -> Iterator[str]:
    yield from told(scanned.offsets)
    time = mapping.time
    if time.clock == "agent" and not scanned.offsets:
        yield (
            "Lines carry the agents' own times, and none the store's (fields.store_time): "
            f"their clocks were taken as right to ± {time.uncertainty_s:g} s."
        )


def _meaning(mapping: Mapping) -> Iterator[str]:
    if not mapping.does("delivery"):
        yield (
            "The log holds no deliveries: an acknowledged send was taken as delivered, so a mail "
            "that was acknowledged and lost is not seen."
        )
    elif not mapping.does("send"):
        yield (
            "The log holds deliveries only: what was refused, retried or sent under which lease is "
            "not seen."
        )
    if not mapping.has("agent"):
        yield "The log names no agents: who wrote is not known, so nobody writes in another's place."
    if not mapping.intent.fields and mapping.does("send"):
        if mapping.has("idempotency_key"):
            yield (
                "One logical send is one idempotency key (intent.fields is not given): a retry "
                "under a fresh key is not seen as a duplicate."
            )
        elif mapping.has("message_id"):
            yield (
                "One logical send is one message id (intent.fields is not given): a retry that got "
                "a new message id is not seen as a duplicate."
            )


def _leases(mapping: Mapping, scanned: Scanned) -> Iterator[str]:
    lengths = scanned.lengths_ms
    if mapping.settings.lease_s is None and lengths:
        shown = ", ".join(f"{length / 1000:g} s" for length in sorted(lengths)[:5])
        more = f" and {len(lengths) - 5} more" if len(lengths) > 5 else ""
        count = sum(lengths.values())
        yield f"Lease lengths were read from {count:,} grants and renewals: {shown}{more}."


__all__ = ["assumptions", "moment"]
