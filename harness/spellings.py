"""Why two spellings are one person, and which keys only look alike to a reader (spec: I2, I3, I5)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

LOOK_ALIKES: Mapping[int, int] = str.maketrans(
    # Cyrillic, Greek, Armenian and other letters that are drawn as Latin ones.
    "аеорсухіјѕԁһӏӓәɑαονρικτυχѵոսցҽ",
    "aeopcyxijsdhlaaaaovpiktuxvnuge",
)
_DRAWN = str.maketrans("01|", "oll")
"""Digits and signs that are drawn as letters."""
REASONS = (
    "letter case",
    "white space",
    "display name",
    "trailing dot",
    "Unicode form",
    "IDNA",
    "domain alias",
    "plus tag",
    "dots",
)
"""Rules by which a spelling becomes its key, in the order they are asked."""


def bare(address: str) -> str:
    """The address without outer white space and display name."""
    text = address.strip()
    if text.endswith(">") and "<" in text:
        text = text[text.rfind("<") + 1 : -1]
    return text.strip()


def reasons(address: str, key: str) -> tuple[str, ...]:
    """By which rules a spelling became its key; none if it is spelled like the key.

    Args:
        address: As it was spelled.
        key: The contact's key.
    """
    text = bare(address)
    local, _, domain = text.rpartition("@")
    key_local, _, key_domain = key.rpartition("@")
    plain_domain = domain.removesuffix(".")
    ascii_domain = _ascii(plain_domain)
    untagged = local.partition("+")[0] if "+" not in key_local else local
    told = {
        "letter case": local.lower() != local or plain_domain.lower() != plain_domain,
        "white space": address != address.strip(),
        "display name": text != address.strip(),
        "trailing dot": domain.endswith("."),
        "Unicode form": unicodedata.normalize("NFC", local) != local,
        "IDNA": ascii_domain != plain_domain.lower(),
        "domain alias": ascii_domain != key_domain,
        "plus tag": untagged != local,
        "dots": untagged.count(".") > key_local.count("."),
    }
    return tuple(name for name in REASONS if told[name])


def _ascii(domain: str) -> str:
    lowered = unicodedata.normalize("NFC", domain).lower()
    if lowered.isascii():
        return lowered
    try:
        import idna

        return idna.encode(lowered, uts46=True).decode()
    except (ImportError, UnicodeError):
        return lowered


def shape(key: str) -> str:
    """What a reader sees of a key: no accents, dots or tags, foreign letters as the Latin they resemble.

    Args:
        key: A contact's key; keys of one shape look alike and are different persons.
    """
    local, _, domain = key.rpartition("@")
    local = local.partition("+")[0].replace(".", "").replace("_", "").replace("-", "")
    return f"{_drawn(local)}@{_drawn(_unicode(domain))}"


def _drawn(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(LOOK_ALIKES)
    plain = "".join(char for char in letters if not unicodedata.combining(char))
    return plain.translate(_DRAWN).replace("rn", "m").replace("vv", "w")


def _unicode(domain: str) -> str:
    if "xn--" not in domain:
        return domain
    try:
        import idna

        return idna.decode(domain)
    except (ImportError, UnicodeError):
        return domain


__all__ = ["REASONS", "bare", "reasons", "shape"]
