"""What well-behaved agents do on their own; each follows the action table of spec R.

A playbook is given its seat and JSON: ``contact`` and ``address`` of the person, ``run`` (kept on a
restart, spec: O1), and what the single playbook names. It plays on real processes and in the
simulator alike. With ``habit`` the agent has one of the habits of `leaserace.harness.habits`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .contract import MessageKind
from .errand import CONFLICTS_MAX, WELL_BEHAVED, Effect, Errand, draft, recipe
from .scenario import Seat

SEQUENCE_STEPS = 5
DIGESTS = 2
DIGEST_EVERY_S = 30.0


def errand_of(
    seat: Seat, args: Mapping[str, Any], kind: MessageKind = MessageKind.COMMERCIAL
) -> Errand:
    """The errand of an agent with the habit that ``args["habit"]`` names (spec: K9).

    Args:
        seat: The agent's own side.
        args: The playbook's JSON.
        kind: What its messages are.

    Raises:
        UsageError: No habit is called so.
    """
    name = args.get("habit", WELL_BEHAVED)
    if name == WELL_BEHAVED:
        return Errand(seat, args, kind)
    from .habits import habit

    return habit(name).errand(seat, args, kind)


def sales_follow_up(seat: Seat, args: Mapping[str, Any]) -> None:
    """Claim the contact, write one message, give the contact back."""
    errand_of(seat, args).perform(lambda errand: errand.write("follow-up"))


def support_reply(seat: Seat, args: Mapping[str, Any]) -> None:
    """Answer somebody who waits: transactional, held only while composing (spec: L10)."""
    kind = MessageKind.TRANSACTIONAL
    errand_of(seat, args, kind).perform(lambda errand: errand.write("reply"))


def five_step_sequence(seat: Seat, args: Mapping[str, Any]) -> None:
    """Write a step, renew, write the next one; ``steps`` says how many (spec: L6, L10)."""

    def work(errand: Errand) -> None:
        for number in range(args.get("steps", SEQUENCE_STEPS)):
            if not seat.running() or not errand.write(f"step-{number + 1}", keep=True):
                break
        errand.give_back()

    errand_of(seat, args).perform(work)


def scheduled_digest(seat: Seat, args: Mapping[str, Any]) -> None:
    """Write at fixed times; each time is a logical send of its own."""

    def work(errand: Errand) -> None:
        for number in range(args.get("times", DIGESTS)):
            seat.wait_s(args.get("every_s", DIGEST_EVERY_S))
            if not seat.running() or not errand.write(f"digest-{number + 1}"):
                break

    errand_of(seat, args).perform(work)


def fan_out(seat: Seat, args: Mapping[str, Any]) -> None:
    """Write to several recipients in one step, ``others`` beside the contact, each under its own key."""
    errand_of(seat, args).perform(lambda errand: errand.write("news"))


def opt_out(seat: Seat, args: Mapping[str, Any]) -> None:
    """The contact asks not to be written to: the list comes first (spec: C3)."""
    seat.call("suppress", args["contact"], address=args["address"], reason="opt-out")


def bounce(seat: Seat, args: Mapping[str, Any]) -> None:
    """A bounce comes in for the contact."""
    seat.call("suppress", args["contact"], address=args["address"], reason="bounce")


def override(seat: Seat, args: Mapping[str, Any]) -> None:
    """A person lets the next message skip the cooldown (spec: C4)."""
    seat.call(
        "override",
        args["contact"],
        address=args["address"],
        person="person-01",
        reason="they asked for it",
    )


PLAYBOOKS = {
    "sales": sales_follow_up,
    "support": support_reply,
    "sequence": five_step_sequence,
    "digest": scheduled_digest,
    "fanout": fan_out,
    "optout": opt_out,
    "bounce": bounce,
    "override": override,
}
"""Playbooks by the names used on the command line."""

TO_MANY = frozenset({"fanout"})
"""Playbooks that need further recipients."""
PERSONS = frozenset({"optout", "bounce", "override"})
"""Playbooks of what comes in from outside: it may happen at any time, or never."""


__all__ = [
    "CONFLICTS_MAX",
    "PERSONS",
    "PLAYBOOKS",
    "TO_MANY",
    "WELL_BEHAVED",
    "Effect",
    "Errand",
    "bounce",
    "draft",
    "errand_of",
    "fan_out",
    "five_step_sequence",
    "opt_out",
    "override",
    "recipe",
    "sales_follow_up",
    "scheduled_digest",
    "support_reply",
]
