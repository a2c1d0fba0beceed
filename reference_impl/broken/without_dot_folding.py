"""Without folding of dots: a dot makes another person.

Gmail ignores dots, this mailbox does not: `jane.doe@gmail.com` and `janedoe@gmail.com` are
claimed, cooled down and suppressed apart (spec: I3).

Caught by `leases.one_live` or `contacts.one_key`. Masked by: agents that all spell the address
alike.
"""

from __future__ import annotations

from ..identity import Identity
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class DottedIdentity(Identity):
    """Keeps dots."""

    def _fold(self, local: str, domain: str) -> str:
        return local.partition("+")[0] if domain in self._rules.ignore_tags else local


twin = Twin(
    name="without_dot_folding",
    safeguard="dots fold where a domain ignores them",
    caught_by=("leases.one_live", "contacts.one_key"),
    masked_by="agents that all spell the address alike",
    spec=("I3",),
)
target = ReferenceTarget(Parts(identity=DottedIdentity), twin.name)
