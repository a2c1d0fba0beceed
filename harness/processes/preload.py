"""What the fork server imports before it forks: the agents' modules, and the target under test.

Importing it in the fork server loads the target once, for all processes of a run. How that went is
written to a file, since the fork server itself can't be asked.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from ..contract import Target, UsageError
from ..targets import load_target
from . import agent, child, host, skew  # noqa: F401 - imported once here, for all that are forked

_loaded: dict[str, Target] = {}


def target(name: str) -> Target:
    """The target called `name`, loaded at most once.

    Raises:
        UsageError: There is none.
    """
    if name not in _loaded:
        _loaded[name] = load_target(name)
    return _loaded[name]


def _load_agent(name: str) -> None:
    """Import an agent under test, once for all processes of a run.

    Raises:
        UsageError: It can't be called.
    """
    from ..agents import agent_called

    agent_called(name).open().close()


def _in_the_fork_server(orders: dict[str, Any]) -> None:
    """Load the target, say how it went, and leave no trace in the environment."""
    child.log_to(orders["log"])
    sys.path[:] = orders["path"]
    os.environ.pop("PYTHONPATH", None)
    if orders["pythonpath"]:
        os.environ["PYTHONPATH"] = orders["pythonpath"]
    said, what = "", f"target {orders['target']!r}"
    try:
        if orders["target"]:
            target(orders["target"])
        if orders["agent"]:
            what = f"agent {orders['agent']!r}"
            _load_agent(orders["agent"])
    except UsageError as error:
        said = str(error)
    except BaseException as error:  # noqa: BLE001 - also sys.exit() in a user's module
        said = f"{what}: importing it ended with {type(error).__name__}: {error}"
    gc.collect()
    gc.freeze()  # else each process copies every page its collector looks at
    status = Path(orders["status"])
    draft = status.with_suffix(".draft")
    told = {"usage": " ".join(said.split()), "threads": threading.active_count() - 1}
    draft.write_text(json.dumps(told), encoding="utf-8")
    draft.rename(status)


if child.ORDERS in os.environ:
    _in_the_fork_server(json.loads(os.environ.pop(child.ORDERS)))
