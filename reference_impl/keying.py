"""The reference's address rules as a plain function, for logs and contact lists (spec: I).

`leaserace judge` and `leaserace contacts` find it by the entry point group ``leaserace.identity``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from .identity import Identity, InvalidAddress, address_rules

DOMAINS_CACHED = 200_000
PLAIN = re.compile(
    r"(?=[^@]{1,64}@)([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?:\+[A-Za-z0-9_-]+)?)"
    r"@([A-Za-z0-9.-]{1,100}|[^\s@<>\"(),:;\\\[\]]{1,25})"
)
"""Addresses whose local part is valid whatever its domain, and ASCII, so that only case matters; with a
domain that is ASCII, or so short that its ASCII form leaves room for the rest."""


def key_function(aliases: Mapping[str, str]) -> Callable[[str], str]:
    """From a table of domain aliases to a function from an address to its contact's key.

    Most addresses of a long list are plain and share their domain with others: only the first of a
    domain goes through the full rules.

    Args:
        aliases: Domain to canonical domain.
    """
    rules = address_rules(aliases=aliases)
    identity = Identity(rules)
    domains: dict[str, str] = {}

    def canonical_of(domain: str) -> str:
        """What the domain is reduced to; raises `InvalidAddress`."""
        known = domains.get(domain)
        if known is None:
            if len(domains) >= DOMAINS_CACHED:
                domains.clear()
            known = domains[domain] = identity.work_out(f"ab@{domain}").key.rpartition("@")[2]
        return known

    def key_of(address: str) -> str:
        """The key of the contact; raises `InvalidAddress`, a `ValueError`, for what is no address."""
        match = PLAIN.fullmatch(address)
        if match is None:
            return identity.work_out(address).key
        try:
            domain = canonical_of(match[2])
        except InvalidAddress:
            return identity.work_out(address).key  # says so of this address
        local = match[1].lower()
        if domain in rules.ignore_tags:
            local = local.partition("+")[0]
        if domain in rules.ignore_dots:
            local = local.replace(".", "")
        return f"{local}@{domain}"

    return key_of


__all__ = ["key_function"]
