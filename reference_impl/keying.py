"""The reference's address rules as a plain function, for logs and contact lists (spec: I).

`leaserace judge` and `leaserace contacts` find it by the entry point group ``leaserace.identity``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from .identity import Identity, address_rules

DOMAINS_CACHED = 200_000
PLAIN = re.compile(r"([A-Za-z0-9_-]{1,30}(?:\.[A-Za-z0-9_-]{1,30}){0,1})@([A-Za-z0-9.-]{1,100})")
"""Addresses whose local part is valid whatever its domain, and ASCII, so that only case matters."""


def key_function(aliases: Mapping[str, str]) -> Callable[[str], str]:
    """From a table of domain aliases to a function from an address to its contact's key.

    Most addresses of a long list are plain and share their domain with others: only the first of a
    domain goes through the full rules.

    Args:
        aliases: Domain to canonical domain.
    """
    identity = Identity(address_rules(aliases=aliases))
    domains: dict[str, tuple[str, bool]] = {}

    def domain_of(domain: str) -> tuple[str, bool]:
        """The canonical domain, and whether it ignores dots or tags."""
        known = domains.get(domain)
        if known is None:
            if len(domains) >= DOMAINS_CACHED:
                domains.clear()
            local, _, canonical = identity.work_out(f"a.b+c@{domain}").key.rpartition("@")
            known = domains[domain] = (canonical, local != "a.b+c")
        return known

    def key_of(address: str) -> str:
        """The key of the contact; raises `InvalidAddress`, a `ValueError`, for what is no address."""
        match = PLAIN.fullmatch(address)
        if match is None:
            return identity.work_out(address).key
        canonical, folds = domain_of(match[2])
        local = match[1].lower()
        if folds:
            return identity.work_out(address).key
        return f"{local}@{canonical}"

    return key_of


__all__ = ["key_function"]
