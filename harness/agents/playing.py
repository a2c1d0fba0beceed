"""The playbook of an agent under test: it opens the agent, gives it its task, says how it ended."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from ..contract import Code
from ..scenario import Contact, Seat
from .answering import answering
from .mailbox import CutOff, RecordedMailbox, SeatStop
from .task import task_from_json
from .under_test import agent_called

UNDER_TEST = "agent.under_test"
BEGIN, END = "agent.begin", "agent.end"
"""Marks: whose actions are judged, and when a run of it began and ended."""
LINGER = 2
"""Lease lengths for which an agent that left a thread running is watched: it may go on renewing."""


def work(seat: Seat, args: Mapping[str, Any]) -> None:
    """Let the user's agent do one task.

    Args:
        seat: Where it sits.
        args: ``agent`` (its name), ``task``, ``contacts``, and ``scripted``: method and code of an
            answer that is given once, or None.
    """
    task = task_from_json(args["task"], settings=seat.settings, clock=seat.clock, memory=seat.kept)
    contacts = msgspec.convert(args["contacts"], tuple[Contact, ...])
    if args["scripted"]:
        f, code = args["scripted"]
        seat.stand_before(answering(f, Code(code)))
    mailbox = RecordedMailbox(seat, task, contacts)
    threads = threading.active_count()
    raised = cut_off = ""
    seat.mark(BEGIN, task=dict(args["task"]))
    try:
        with closing(agent_called(args["agent"]).open()) as session:
            session.run(mailbox, task, SeatStop(seat))
    except CutOff as error:
        cut_off = str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the agent's own; it is told
        raised = _last_line(error)
    seat.mark(END, raised=raised, cut_off=cut_off, calls=mailbox.calls)
    if threading.active_count() > threads:
        seat.wait_s(LINGER * seat.settings.lease_s)


def _last_line(error: BaseException) -> str:
    """The last line of its traceback, and where in the agent's own code it was raised."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if not each.filename.startswith(_HARNESS)] or frames
    return f"{line[:300]} ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else line[:300]


_HARNESS = str(Path(__file__).parents[1])
"""What stands here is no agent of the user's."""
