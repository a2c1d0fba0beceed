"""Two safeguards removed at once: what one of them hides as long as it stands.

``leaserace.reference_impl.broken.pairs:without_a_and_without_b`` is a target without either.
"""

from __future__ import annotations

import importlib
from dataclasses import fields, replace
from typing import Any

from ..parts import Parts
from ..target import ReferenceTarget

AND = "_and_"


def together(*names: str) -> ReferenceTarget:
    """The reference without the safeguards of these twins.

    Args:
        names: Modules of this package; no two of them may replace the same part.

    Raises:
        ValueError: Two do.
    """
    found: list[ReferenceTarget] = [
        importlib.import_module(f"{__package__}.{name}").target for name in names
    ]
    parts = Parts()
    for target in found:
        own = _replaced(target.parts)
        if own.keys() & _replaced(parts).keys():
            raise ValueError(f"{' and '.join(names)} replace the same part")
        parts = replace(parts, **own)
    kinds = tuple(dict.fromkeys(map(type, found)))
    own_kinds = tuple(kind for kind in kinds if kind is not ReferenceTarget)
    kind: type[ReferenceTarget] = type("TogetherTarget", own_kinds or (ReferenceTarget,), {})
    return kind(parts, AND.join(names))


def _replaced(parts: Parts) -> dict[str, Any]:
    """The parts that are not the reference's own."""
    whole = Parts()
    values = {each.name: getattr(parts, each.name) for each in fields(Parts)}
    return {name: part for name, part in values.items() if part is not getattr(whole, name)}


def __getattr__(name: str) -> ReferenceTarget:
    names = name.split(AND)
    if len(names) < 2 or not all(each.startswith("without_") for each in names):
        raise AttributeError(f"no pair of twins is called {name!r}: join two names with {AND}")
    return together(*names)
