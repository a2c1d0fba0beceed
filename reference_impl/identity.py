"""One person, one key: what an address is reduced to before anything is claimed (spec: I).

The syntax is email-validator's; the rules on top are ours and few: the local part is NFC-normalised
and lower-cased, the domain is brought to its ASCII form and through the alias table, and dots and
plus tags fold only where a domain's rule says so. Look-alike letters stay two persons.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from email_validator import EmailNotValidError, ValidatedEmail, validate_email

from leaserace.harness.contract import UsageError

if TYPE_CHECKING:
    from .policy import Policy

BUILT_IN_ALIASES = {"googlemail.com": "gmail.com"}
IGNORES_DOTS = ("gmail.com",)
IGNORES_TAGS = ("gmail.com",)
KEYS_CACHED = 100_000
ADDRESS_SHOWN = 80
ADDRESS_LENGTH_MAX = 1000
"""With its display name; what is longer is not looked at further."""
_ENCODED_WORD = re.compile(r"=\?.+\?=")
"""An encoded word (RFC 2047): a mail program would decode it to another address."""


class InvalidAddress(ValueError):  # noqa: N818 - it is what the address is
    """The text is no address; the message names the part that is wrong (spec: I4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRules:
    """Which domains are one, and which ignore dots or tags; all in canonical ASCII form.

    Args:
        aliases: Pairs of alias and canonical domain (spec: I2).
        ignore_dots: Canonical domains that ignore dots in a local part (spec: I3).
        ignore_tags: Canonical domains that ignore what follows a plus sign (spec: I3).
    """

    aliases: tuple[tuple[str, str], ...]
    ignore_dots: frozenset[str]
    ignore_tags: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientKey:
    """A contact, and where mail to it goes.

    Args:
        key: What leases, cooldowns and suppressions are kept under (spec: I1).
        address: The address as it was spelled, valid for an envelope.
        ascii_only: False if the local part needs SMTPUTF8.
    """

    key: str
    address: str
    ascii_only: bool = True


def address_rules(
    *,
    aliases: Mapping[str, str] | None = None,
    ignore_dots: Iterable[str] = (),
    ignore_tags: Iterable[str] = (),
) -> AddressRules:
    """The built-in rules and these.

    Args:
        aliases: Alias to canonical domain.
        ignore_dots: Further domains that ignore dots.
        ignore_tags: Further domains that ignore plus tags.

    Raises:
        UsageError: A domain is none, or an alias points to an alias.
    """
    table = {
        _domain(alias): _domain(canonical)
        for alias, canonical in {**BUILT_IN_ALIASES, **(aliases or {})}.items()
    }
    for alias, canonical in table.items():
        if canonical in table:
            raise UsageError(
                f"policy: alias {alias!r} points to {canonical!r}, an alias itself: "
                f"point it at {table[canonical]!r}"
            )
    return AddressRules(
        aliases=tuple(sorted(table.items())),
        ignore_dots=frozenset(map(_domain, (*IGNORES_DOTS, *ignore_dots))),
        ignore_tags=frozenset(map(_domain, (*IGNORES_TAGS, *ignore_tags))),
    )


def _domain(text: str) -> str:
    """A domain of the policy in canonical form."""
    try:
        return _validate(f"x@{text.strip().removesuffix('.')}").ascii_domain.lower()
    except EmailNotValidError as error:
        raise UsageError(f"policy: {text!r} is no domain: {error}") from error


def _validate(address: str) -> ValidatedEmail:
    # "test_environment" allows the reserved domain .test, which rehearsals use; "strict" keeps the part
    # before the @-sign within 64 characters (RFC 5321).
    return validate_email(
        address,
        check_deliverability=False,
        allow_display_name=True,
        test_environment=True,
        strict=True,
    )


class Identity:
    """Turns addresses into keys; each safeguard is a method of its own.

    Args:
        rules: The policy's domains.
    """

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules

    def key(self, address: str) -> RecipientKey:
        """The contact `address` belongs to.

        Raises:
            InvalidAddress: It is no address.
        """
        return _cached_key(type(self), self._rules, address)  # type: ignore[arg-type]

    def work_out(self, address: str) -> RecipientKey:
        """The same without the cache."""
        valid = self._parse(address)
        domain = self._canonical_domain(valid.ascii_domain)
        local = self._fold(self._fold_case(valid.local_part), domain)
        if not local:
            raise InvalidAddress(
                f"{_shown(address)}: nothing is left of the part before the @-sign "
                f"once {domain}'s dots and tags are ignored"
            )
        ascii_only = valid.ascii_email is not None
        return RecipientKey(
            key=f"{local}@{domain}",
            address=f"{valid.local_part}@{valid.ascii_domain}" if ascii_only else valid.normalized,
            ascii_only=ascii_only,
        )

    def _parse(self, address: str) -> ValidatedEmail:
        """Outer white space, a display name and one trailing dot are no part of it (spec: I2, I3)."""
        if len(address) > ADDRESS_LENGTH_MAX:
            raise InvalidAddress(
                f"{_shown(address)}: {len(address)} characters, and an address has at most"
                f" {ADDRESS_LENGTH_MAX} with its name"
            )
        text = address.strip()
        text = text.removesuffix(".>") + ">" if text.endswith(".>") else text.removesuffix(".")
        try:
            valid = _validate(text)
        except EmailNotValidError as error:
            raise InvalidAddress(f"{_shown(address)}: {error}") from error
        if _ENCODED_WORD.search(valid.local_part):
            raise InvalidAddress(
                f"{_shown(address)}: the part before the @-sign holds an encoded word"
            )
        return valid

    def _fold_case(self, local: str) -> str:
        """NFC, then lower case; lower-casing can undo NFC, hence once more (spec: I1, I3)."""
        lowered = unicodedata.normalize("NFC", local).lower()
        return unicodedata.normalize("NFC", lowered)

    def _canonical_domain(self, ascii_domain: str) -> str:
        """The domain an alias stands for (spec: I2)."""
        domain = ascii_domain.lower()
        for alias, canonical in self._rules.aliases:
            if alias == domain:
                return canonical
        return domain

    def _fold(self, local: str, domain: str) -> str:
        """Dots and plus tags, only where the domain ignores them (spec: I3)."""
        if domain in self._rules.ignore_tags:
            local = local.partition("+")[0]
        if domain in self._rules.ignore_dots:
            local = local.replace(".", "")
        return local


def _shown(address: str) -> str:
    return repr(address if len(address) <= ADDRESS_SHOWN else address[:ADDRESS_SHOWN] + "…")


@lru_cache(maxsize=KEYS_CACHED)
def _cached_key(kind: type[Identity], rules: AddressRules, address: str) -> RecipientKey:
    return kind(rules).work_out(address)


def contact_key(address: str, policy: Policy) -> RecipientKey:
    """The contact `address` belongs to under `policy` (spec: I1, I2, I3).

    Raises:
        InvalidAddress: It is no address; the message names the part that is wrong (spec: I4).
    """
    return Identity(policy.addresses).key(address)
