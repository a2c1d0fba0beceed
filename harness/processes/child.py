"""What every process does first: a session of its own, a log of its own, then its role."""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
from collections.abc import Mapping

from . import wire

ROLES: Mapping[str, str] = {
    "agent": "leaserace.harness.processes.agent",
    "host": "leaserace.harness.processes.host",
    "sink": "leaserace.harness.sink",
}
"""Role to the module whose `main` plays it."""

ORDERS = "LEASERACE_DOOR"
"""Environment variable with the fork server's orders, as JSON."""

STACKS = signal.SIGUSR1 if hasattr(signal, "SIGUSR1") else None
"""Signal on which a process writes the stacks of its threads to its log."""


def main(connection: wire.Connection) -> None:
    """Wait to be told a role, then play it until its end; the coordinator's end is the end too."""
    os.setsid()
    try:
        first = wire.next_command(connection)
    except EOFError:
        return
    assert isinstance(first, wire.Be)
    log_to(first.log)
    role = importlib.import_module(ROLES[first.role])
    role.main(connection, first.orders)


def log_to(path: str) -> None:
    """Send standard output and error to a file: the coordinator's are for reports."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    if STACKS is not None:
        faulthandler.register(STACKS, all_threads=True)
