"""A coordinator for tests to end: it stops one agent, says who runs, and waits to be ended."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from pathlib import Path

import psutil

from leaserace.harness import Race
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.processes.signals import terminated_as_exception
from tests.support.races import run


def stopped_for_ever(race: Race) -> None:
    """One agent stands at a point under SIGSTOP, the other has made a call."""
    first, second = race.agents
    contact = race.contact()
    second.acquire(contact)
    stop = first.pause_at("send.checked")
    first.start(first.later.send(contact, race.message(contact)))
    stop.wait()
    family = psutil.Process().children(recursive=True)
    sys.stdout.write(json.dumps([[each.pid, each.create_time()] for each in family]) + "\n")
    sys.stdout.flush()
    match sys.argv[2]:
        case "wait":
            signal.pause()  # until a signal ends it
        case "exit":
            raise SystemExit(5)


def main() -> None:
    """Run it; SIGTERM is an exception, as for the command line."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore them
    signal.signal(signal.SIGINT, signal.default_int_handler)
    engine = ProcessEngine("tests.support.process_targets:Toy", Path(sys.argv[1]))
    with contextlib.suppress(KeyboardInterrupt), terminated_as_exception(), engine:
        run(engine, stopped_for_ever)


if __name__ == "__main__":
    main()
