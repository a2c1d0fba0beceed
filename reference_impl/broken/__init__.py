"""The reference with exactly one safeguard removed, one module each.

Each module has a `target` to run and a `twin` that says what is missing and what must notice.
"""

from __future__ import annotations

import importlib
import pkgutil

from .twin import Twin


def twins() -> list[Twin]:
    """All broken twins, by name."""
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    return [
        importlib.import_module(f"{__name__}.{name}").twin
        for name in names
        if name.startswith("without_")
    ]


__all__ = ["Twin", "twins"]
