"""Without composed letters: an accent as a character of its own makes another person.

The same letters in composed and in decomposed form (NFC, NFD) are claimed, cooled down and
suppressed apart (spec: I3).

Caught by `leases.one_live` or `contacts.one_key`. Masked by: addresses in plain ASCII.
"""

from __future__ import annotations

from dataclasses import replace

from ..identity import Identity, RecipientKey
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class DecomposedIdentity(Identity):
    """Compares letters as they are typed."""

    def work_out(self, address: str) -> RecipientKey:
        """The contact, under the letters of its own spelling."""
        found = super().work_out(address)
        local = address.strip().rpartition("@")[0].rpartition("<")[2].lower()
        if local.isascii():
            return found
        return replace(found, key=f"{local}@{found.key.rpartition('@')[2]}")


twin = Twin(
    name="without_composed_letters",
    safeguard="local parts are compared in NFC",
    caught_by=("leases.one_live", "contacts.one_key"),
    masked_by="addresses in plain ASCII",
    spec=("I3",),
)
target = ReferenceTarget(Parts(identity=DecomposedIdentity), twin.name)
