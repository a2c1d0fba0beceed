"""Users' own scenarios, found by the path of their file."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from .contract import UsageError
from .scenario import REGISTRY, Scenario

_BY_PATH: dict[str, str] = {}
"""Id of a scenario to how it was named on the command line."""


def called(scenario: Scenario) -> str:
    """How to name a scenario so that it is found again."""
    return _BY_PATH.get(scenario.id, scenario.id)


def is_path(name: str) -> bool:
    """Whether this names a file of scenarios (``races.py``, ``races.py::two_tabs``), not a scenario."""
    return name.partition("::")[0].endswith(".py")


def load_scenarios_from(name: str) -> list[Scenario]:
    """Import a file and return the scenarios it defines, by number.

    Args:
        name: ``path/to/file.py``, or ``path/to/file.py::scenario`` for one of them.

    Raises:
        UsageError: There is no such file or scenario, or the file can't be imported.
    """
    path_text, _, wanted = name.partition("::")
    path = Path(path_text).absolute()
    if not path.is_file():
        raise UsageError(f"no file {path_text!r}: give the path of a file with scenarios")
    module = import_file(path)
    found = [each for each in REGISTRY if each.script.__module__ == module]
    if not found:
        raise UsageError(f"{path_text!r} defines no scenario: decorate a function with @scenario")
    _BY_PATH.update({each.id: f"{path_text}::{each.id}" for each in found})
    if not wanted:
        return found
    chosen = [each for each in found if each.id == wanted]
    if not chosen:
        names = ", ".join(each.id for each in found)
        raise UsageError(f"{path_text!r} has no scenario {wanted!r}; there are {names}")
    return chosen


def import_file(path: Path) -> str:
    """Import a file under the name its packages give it, so that agents' processes find it too.

    Args:
        path: Absolute path of the file.

    Returns:
        The module's name.

    Raises:
        UsageError: It can't be imported, or another module has its name.
    """
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    name = ".".join(parts)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(name)
    except Exception as error:
        raise UsageError(
            f"{str(path)!r} can't be imported: {type(error).__name__}: {error}"
        ) from error
    where = getattr(module, "__file__", None)
    if where is None or Path(where).resolve() != path.resolve():
        raise UsageError(f"{str(path)!r}: another module is called {name!r} ({where}): rename one")
    return name


__all__ = ["called", "import_file", "is_path", "load_scenarios_from"]
