"""How agents go about their work: one well-behaved way and the known bad ones (spec: A3, K9, O2, O3).

A habit is an `Errand` with one method changed, so that it shows one fault and is right in all else. A
playbook takes it by name from ``args["habit"]``, so any agent can have any habit, on both engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ..contract import UsageError
from ..errand import WELL_BEHAVED, Errand
from .keys import (
    ModelWritesKey,
    OneKeyForMany,
    RewordsBody,
    TimeInKey,
    UuidPerCall,
)
from .leases import DetachedRenewal, IgnoresFailedRenewal, OldToken, OptOutLate
from .retries import BlindRetry, DailyAfterWindow
from .runs import NewRunId, NewRunIdWithCheckpoints


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """A way an agent works.

    Args:
        name: How it is called on the command line and in a playbook's ``habit``.
        summary: What the agent does, in one line.
        spec: Rules it breaks or keeps.
        errand: The agent's work, done this way.
        restarts: It shows only once the agent was restarted.
        breaks: Rules of `leaserace.harness.rules` about agents that tell it; none if it is a good one.
        doubles: It doubles mail although the mailbox is correct; only a layer in the agent's own
            application stops it (spec: O1).
        outlives_window: It shows only once the window of a key has closed.
        needs: What must happen for it to show, in a few words.
        reports: Public reports of the same fault, by number.
    """

    name: str
    summary: str
    spec: tuple[str, ...]
    errand: type[Errand]
    restarts: bool = False
    breaks: tuple[str, ...] = ()
    doubles: bool = False
    outlives_window: bool = False
    needs: str = ""
    reports: tuple[str, ...] = ()


_ALL = (
    Habit(
        name=WELL_BEHAVED,
        summary="does after each answer what the table of spec R says",
        spec=("R", "A1", "A2"),
        errand=Errand,
    ),
    Habit(
        name="blind-retry",
        summary="repeats a call at once after any refusal or lost reply, without a look-up",
        spec=("A1", "R1", "K10"),
        errand=BlindRetry,
        breaks=("agent.next_action", "agent.habits"),
        needs="a refusal or a lost reply",
        reports=("B57", "B60", "B72", "B108"),
    ),
    Habit(
        name="time-in-key",
        summary="puts the time of the call, by its own clock, into the key",
        spec=("K9", "K1", "A1"),
        errand=TimeInKey,
        breaks=("agent.keys", "agent.habits"),
        doubles=True,
        needs="a lost reply",
    ),
    Habit(
        name="uuid-per-call",
        summary="makes a fresh UUID as the key of every call",
        spec=("K9", "K1", "A1"),
        errand=UuidPerCall,
        breaks=("agent.keys", "agent.habits"),
        doubles=True,
        needs="a lost reply",
        reports=("B57", "B58", "B61"),
    ),
    Habit(
        name="model-writes-key",
        summary="lets the model write the key: case, dashes and spaces drift from try to try",
        spec=("K9", "K1", "K3", "A1"),
        errand=ModelWritesKey,
        breaks=("agent.keys", "agent.habits"),
        doubles=True,
        needs="a lost reply",
        reports=("B53",),
    ),
    Habit(
        name="rewords-body",
        summary="lets the model write the text anew at each try, and hashes it into the key",
        spec=("K9", "K7", "X14", "A1"),
        errand=RewordsBody,
        breaks=("agent.keys", "agent.habits"),
        doubles=True,
        needs="a lost reply",
        reports=("B53", "B54", "B56"),
    ),
    Habit(
        name="one-key-for-many",
        summary="puts one key over all messages of a step, and does the step again under another",
        spec=("K9", "K7", "X18", "A1"),
        errand=OneKeyForMany,
        breaks=("agent.keys", "agent.habits"),
        doubles=True,
        reports=("B77", "B78", "B80"),
    ),
    Habit(
        name="old-token",
        summary="works past its lease and sends again with the token it had",
        spec=("A1", "L6", "S3"),
        errand=OldToken,
        breaks=("agent.next_action", "agent.habits"),
        needs="a lease that ends",
        reports=("B5", "B6", "B9", "B12"),
    ),
    Habit(
        name="detached-renewal",
        summary="renews on a timer that goes on although no work is done",
        spec=("A2", "L6"),
        errand=DetachedRenewal,
        breaks=("agent.renewals", "agent.habits"),
        reports=("B14",),
    ),
    Habit(
        name="new-run-id",
        summary="starts again under a new run id after a crash, without checkpoints",
        spec=("O2", "K9"),
        errand=NewRunId,
        restarts=True,
        breaks=("agent.keys", "agent.habits"),
        doubles=True,
        needs="a crash after a send",
        reports=("B68", "B69", "B70"),
    ),
    Habit(
        name="new-run-id-with-checkpoints",
        summary="is started under a new run id, and goes on from its checkpoints (a good one)",
        spec=("O1", "O2"),
        errand=NewRunIdWithCheckpoints,
        restarts=True,
        needs="a crash after a send",
    ),
    Habit(
        name="daily-after-window",
        summary="runs again the next day, when the window of its key has closed",
        spec=("O3", "K5", "K9"),
        errand=DailyAfterWindow,
        breaks=("agent.habits",),
        doubles=True,
        outlives_window=True,
        reports=("B48", "B49"),
    ),
    Habit(
        name="ignores-failed-renewal",
        summary="sends although the renewal it made for that send was refused",
        spec=("A2", "L6", "X12"),
        errand=IgnoresFailedRenewal,
        breaks=("agent.renewals", "agent.habits"),
        needs="a lease that ends",
        reports=("B8", "B13", "B17"),
    ),
    Habit(
        name="opt-out-late",
        summary="releases the lease before it writes the opt-out it has received",
        spec=("C3", "O4"),
        errand=OptOutLate,
        breaks=("agent.habits",),
        reports=("B96", "B97", "B98"),
    ),
)

HABITS: Mapping[str, Habit] = {each.name: each for each in _ALL}
"""All habits by name; the well-behaved one first."""


def habit(name: str) -> Habit:
    """The habit of this name.

    Raises:
        UsageError: There is none; near spellings are named.
    """
    found = HABITS.get(name)
    if found is None:
        raise UsageError(f"no habit is called {name[:60]!r}; {hint(name, HABITS)}")
    return found


def hint(word: str, known: Iterable[str]) -> str:
    """What may have been meant by a word that is none of those known."""
    words = list(known)
    near = [each for each in words if word and word in each] or get_close_matches(word, words, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(words)}"


__all__ = ["HABITS", "Habit", "habit", "hint"]
