"""Without one form of a domain: its Unicode and its ASCII form are two.

An address in the domain's Unicode form and one in punycode are claimed, cooled down and
suppressed apart (spec: I2).

Caught by `leases.one_live` or `contacts.one_key`. Masked by: domains in plain ASCII.
"""

from __future__ import annotations

from dataclasses import replace

from ..identity import Identity, RecipientKey
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class LiteralIdentity(Identity):
    """Compares domains as they are spelled."""

    def work_out(self, address: str) -> RecipientKey:
        """The contact, under its domain's own spelling."""
        found = super().work_out(address)
        domain = address.rpartition("@")[2].strip(" .>").lower()
        if domain.isascii() and not domain.startswith("xn--"):
            return found
        return replace(found, key=f"{found.key.rpartition('@')[0]}@{domain}")


twin = Twin(
    name="without_one_domain_form",
    safeguard="a domain is compared in its ASCII form",
    caught_by=("leases.one_live", "contacts.one_key"),
    masked_by="domains in plain ASCII",
    spec=("I2",),
)
target = ReferenceTarget(Parts(identity=LiteralIdentity), twin.name)
