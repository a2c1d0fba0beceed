"""Without a minimum: one bounce halts a mailbox that has hardly sent.

Rates are judged on however few deliveries there are, so the first bounce stops everybody (spec:
O5).

Caught by `sends.halted`. Masked by: mailboxes that have sent much.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..budgets import Breaker
from ..parts import Parts
from ..records import Bucket
from ..target import ReferenceTarget
from .twin import Twin


class NervousBreaker(Breaker):
    """Needs no deliveries to be alarmed."""

    def _too_many(self, buckets: Iterable[Bucket]) -> str:
        found = [each for each in buckets if each.bounced or each.complained]
        return super()._too_many(found) or ("bounces or complaints" if found else "")


twin = Twin(
    name="without_breaker_minimum",
    safeguard="rates are judged on a least number of deliveries",
    caught_by=("sends.halted",),
    masked_by="mailboxes that have sent much",
    spec=("O5",),
)
target = ReferenceTarget(Parts(breaker=NervousBreaker), twin.name)
