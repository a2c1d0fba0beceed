"""Without folding of tags: a plus tag makes another person.

Gmail ignores what follows a plus sign, this mailbox does not: `jane+news@gmail.com` and
`jane@gmail.com` are claimed, cooled down and suppressed apart (spec: I3).

Caught by `leases.one_live` or `contacts.one_key`. Masked by: agents that all spell the address
alike.
"""

from __future__ import annotations

from ..identity import Identity
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class TaggedIdentity(Identity):
    """Keeps tags."""

    def _fold(self, local: str, domain: str) -> str:
        return local.replace(".", "") if domain in self._rules.ignore_dots else local


twin = Twin(
    name="without_tag_folding",
    safeguard="plus tags fold where a domain ignores them",
    caught_by=("leases.one_live", "contacts.one_key"),
    masked_by="agents that all spell the address alike",
    spec=("I3",),
)
target = ReferenceTarget(Parts(identity=TaggedIdentity), twin.name)
