"""Which spellings are one person, for a log: a plain rule here, or one found by its entry point.

The full rules (spec: I) belong to an implementation; a package offers its own under the entry point
group ``leaserace.identity``: a function from a table of domain aliases to a function from an address
to a key, which raises `ValueError` where the text is no address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import entry_points

from ..contract import UsageError

GROUP = "leaserace.identity"
PLAIN = "plain"
CACHED = 200_000

KeyOf = Callable[[str], str]
"""From an address to the key of its person; raises `ValueError`."""
Maker = Callable[[Mapping[str, str]], KeyOf]
"""From a table of domain aliases to a `KeyOf`."""


def plain(aliases: Mapping[str, str]) -> KeyOf:
    """Outer white space off, lower case, domain aliases (spec: I1, I2); nothing else is folded.

    Args:
        aliases: Domain to canonical domain, both in lower case.
    """

    def key_of(address: str) -> str:
        text = address.strip()
        if text[-1:] == ">":
            text = text[text.rfind("<") + 1 : -1]
        local, at, domain = text.lower().rpartition("@")
        if not at or not local or not domain:
            message = f"{address[:80]!r} is no address: a part before and after one @ is missing"
            raise ValueError(message)
        domain = domain.removesuffix(".")
        return f"{local}@{aliases.get(domain, domain)}"

    return key_of


def key_function(name: str, aliases: Mapping[str, str]) -> tuple[KeyOf, str]:
    """The identity function called `name`.

    Args:
        name: Under the entry point group, ``plain``, or "" for ``reference`` if it is there.
        aliases: Domain to canonical domain.

    Returns:
        The function, and the name of what was taken.

    Raises:
        UsageError: None is called so.
    """
    table = {alias.lower(): domain.lower() for alias, domain in aliases.items()}
    if name == PLAIN:
        return plain(table), PLAIN
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    wanted = name or "reference"
    if wanted in found:
        maker: Maker = found[wanted].load()
        return _made(maker, tuple(sorted(table.items()))), wanted
    if name:
        names = ", ".join(sorted({PLAIN, *found}))
        raise UsageError(f"contact.identity: none is called {name!r}; there are {names}")
    return plain(table), PLAIN


@lru_cache(maxsize=4)
def _made(maker: Maker, aliases: tuple[tuple[str, str], ...]) -> KeyOf:
    """A key function, kept with what it learned of domains: a log is read in many parts."""
    return maker(dict(aliases))


class Contacts(dict[str, str]):
    """Addresses to contacts, remembered; what is no address stands for itself, and is counted.

    Args:
        key_of: The identity function.

    Attributes:
        strange: How many recipients were no address.
        example: The first of them.
    """

    def __init__(self, key_of: KeyOf) -> None:
        super().__init__()
        self._key_of = key_of
        self.strange = 0
        self.example = ""

    def __missing__(self, address: str) -> str:
        if len(self) >= CACHED:
            self.clear()
        try:
            key = self._key_of(address)
        except ValueError as error:
            self.strange += 1
            self.example = self.example or str(error)
            key = address.strip().lower()
        self[address] = key
        return key


__all__ = ["Contacts", "KeyOf", "key_function", "plain"]
