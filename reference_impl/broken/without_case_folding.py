"""Without case folding: two casings of an address are two contacts.

Local parts are normalised but keep their case, so `Jane.Doe@acme.com` and `jane.doe@acme.com` are
claimed, cooled down and suppressed apart (spec: I1, I3).

Caught by `leases.one_live` or `contacts.one_key`. Masked by: agents that all spell the address
alike.
"""

from __future__ import annotations

import unicodedata

from ..identity import Identity
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class CaseKeepingIdentity(Identity):
    """Keeps the case of local parts."""

    def _fold_case(self, local: str) -> str:
        return unicodedata.normalize("NFC", local)


twin = Twin(
    name="without_case_folding",
    safeguard="local parts are lower-cased",
    caught_by=("leases.one_live", "contacts.one_key"),
    masked_by="agents that all spell the address alike",
    spec=("I1", "I3"),
)
target = ReferenceTarget(Parts(identity=CaseKeepingIdentity), twin.name)
