"""Without the alias table: two names of one domain are two contacts.

`jane@googlemail.com` and `jane@gmail.com` are claimed, cooled down and suppressed apart (spec:
I2).

Caught by `leases.one_live` or `contacts.one_key`. Masked by: contact data that knows one of the
names only.
"""

from __future__ import annotations

from ..identity import Identity
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class AliaslessIdentity(Identity):
    """Takes each domain for itself."""

    def _canonical_domain(self, ascii_domain: str) -> str:
        return ascii_domain.lower()


twin = Twin(
    name="without_domain_alias",
    safeguard="domain aliases resolve to one canonical domain",
    caught_by=("leases.one_live", "contacts.one_key"),
    masked_by="contact data that knows one of the names only",
    spec=("I2",),
)
target = ReferenceTarget(Parts(identity=AliaslessIdentity), twin.name)
