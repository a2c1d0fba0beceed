"""Targets by name: Python objects, and later HTTP, MCP and stdio programs described by a file."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from importlib.metadata import entry_points

from ..contract import Capability, Target, UsageError


def load_target(name: str) -> Target:
    """The target called `name`.

    Args:
        name: ``module:attribute`` (an instance or a subclass of `Target`), or a name registered
            under the entry point group ``leaserace.targets``, such as ``reference``.

    Raises:
        UsageError: There is none, or it is no target.
    """
    known = {entry.name: entry.value for entry in entry_points(group="leaserace.targets")}
    where = known.get(name, name)
    module_name, colon, attribute = where.partition(":")
    if not colon or not module_name or not attribute:
        names = ", ".join(sorted(known)) or "none"
        raise UsageError(
            f"no target is called {name!r}: give MODULE:ATTRIBUTE, or one of these: {names}"
        )
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise UsageError(
            f"target {name!r}: importing {module_name!r} failed: {type(error).__name__}: {error}"
        ) from error
    found = getattr(module, attribute, None)
    if found is None:
        raise UsageError(f"target {name!r}: module {module_name!r} has no {attribute!r}")
    if inspect.isclass(found) and issubclass(found, Target):
        found = found()
    if not isinstance(found, Target):
        raise UsageError(
            f"target {name!r} is {found!r:.100}: it must be a leaserace.harness.Target, or a subclass"
        )
    return found


def capabilities_of(name: str, stated: Iterable[str]) -> frozenset[Capability]:
    """What a target says it can do.

    Raises:
        UsageError: A capability has no such name.
    """
    unknown = sorted(set(stated) - set(Capability))
    if unknown:
        raise UsageError(
            f"target {name}: capability {unknown[0]!r} does not exist; there are"
            f" {', '.join(sorted(Capability))}"
        )
    return frozenset(Capability(each) for each in stated)
