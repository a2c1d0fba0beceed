"""Checks a contact list before anything is automated: leases inherit its duplicates (spec: I5)."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .identity import InvalidAddress, contact_key
from .policy import Policy

LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏαονρικ",
    "aeopcyxijsdhlaovpik",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactList:
    """What a contact list holds.

    Args:
        one_person: Keys that stand there more than once, with every spelling, in the list's order.
        look_alike: Groups of different keys that a reader would take for one.
        no_address: What is no address, with the reason.
    """

    one_person: Mapping[str, tuple[str, ...]]
    look_alike: tuple[tuple[str, ...], ...]
    no_address: Mapping[str, str]


def check_contacts(addresses: Iterable[str], policy: Policy) -> ContactList:
    """Say who collapses into one key, who only looks alike, and who is no address (spec: I5).

    Args:
        addresses: The list as it is.
        policy: Whose address rules hold.
    """
    spellings: dict[str, list[str]] = defaultdict(list)
    no_address: dict[str, str] = {}
    for address in addresses:
        try:
            spellings[contact_key(address, policy).key].append(address)
        except InvalidAddress as error:
            no_address[address] = str(error)
    shapes: dict[str, list[str]] = defaultdict(list)
    for key in spellings:
        shapes[_shape(key)].append(key)
    return ContactList(
        one_person={key: tuple(each) for key, each in spellings.items() if len(each) > 1},
        look_alike=tuple(tuple(keys) for keys in shapes.values() if len(keys) > 1),
        no_address=no_address,
    )


def _shape(key: str) -> str:
    """What a reader sees: no accents, no dots or tags, foreign letters as the Latin they resemble."""
    local, _, domain = key.rpartition("@")
    bare = local.partition("+")[0].replace(".", "")
    letters = unicodedata.normalize("NFKD", bare.casefold()).translate(LOOK_ALIKES)
    return "".join(c for c in letters if not unicodedata.combining(c)) + "@" + domain
