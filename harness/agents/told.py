"""What an agent's author is told: per answer what the agent did next, what is right, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..engine import RaceRun
from ..history import History, MarkEvent, Operation, OpType
from ..outcome import AgentAnswer
from ..rules import ALL
from ..rules.base import Rule
from ..verdict import Finding, RaceResult, Verdict
from .playing import END
from .races import SITUATIONS
from .stage import Situation

STEPS_MAX = 8
"""Calls that are told after an answer."""
FAMILY = "agent."
"""How names of rules about agents begin."""


def rules_for(situation: Situation) -> Sequence[type[Rule]]:
    """Rules a situation is judged by: where a script answers, only those about agents."""
    if situation.scripted:
        return tuple(rule for rule in ALL if rule.name.startswith(FAMILY))
    return ALL


def judged(run: RaceRun, result: RaceResult) -> tuple[RaceResult, AgentAnswer]:
    """What came of a situation, for the report and for the agent's author.

    A situation that never gave its answer is unknown; one that waits for a call the agent has no
    reason to make (a renewal, a release) does not apply. Neither is passed.

    Args:
        run: The situation, run.
        result: What the rules and the guards say of it.
    """
    situation = SITUATIONS[run.variant.name]
    agent = run.info.agents[0]
    calls = [op for op in run.history.operations() if op.agent == agent]
    given, told = _given(situation, run.history, calls)
    ended = [*_ends(run.history, "raised"), *_ends(run.history, "cut_off")]
    verdict, reasons = result.verdict, [*ended, *filter(None, [result.reason])]
    if verdict is not Verdict.INVALID and not given and not run.aborted:
        verdict, why = _never_given(situation, calls, is_whole=not ended)
        reasons = [*ended, why]
    if verdict is Verdict.VALID and _ends(run.history, "cut_off"):
        verdict = Verdict.UNKNOWN
    reason = "; ".join(dict.fromkeys(reasons))
    answer = AgentAnswer(
        situation=situation.name,
        answer=situation.answer,
        f=situation.f,
        given=given,
        did=tuple(_steps(told or (calls if result.findings else ()))),
        right=situation.right,
        verdict=verdict,
        why=_why(result.findings) or reason,
        rules=tuple(dict.fromkeys(each.rule for each in result.findings)),
        ops=_ops(result.findings),
        scripted=bool(situation.scripted),
        race=run.race,
    )
    return replace(result, verdict=verdict, reason=reason, rounds=given), answer


def _given(
    situation: Situation, history: History, calls: Sequence[Operation]
) -> tuple[int, Sequence[Operation]]:
    """How often the situation came about, and the calls from there on, the answered one first."""
    moments = situation.moments(history)
    if moments is None:
        given = [place for place, op in enumerate(calls) if situation.is_given(op)]
        return len(given), calls[given[0] :] if given else ()
    if not moments:
        return 0, ()
    begins = moments[0]
    rest = [op for op in calls if (op.completed_ns or begins) >= begins]
    if situation.again:
        # Only what was sent before can be sent twice; then no call at all is the right answer.
        is_out = any(op.f == "send" and op.type is OpType.OK for op in calls if op not in rest)
        return len(moments) if is_out else 0, rest
    return len(moments) if rest else 0, rest


def _never_given(
    situation: Situation, calls: Sequence[Operation], *, is_whole: bool
) -> tuple[Verdict, str]:
    """What is said of an answer that never came.

    Args:
        situation: Which.
        calls: The agent's.
        is_whole: Whether the agent came to its own end.
    """
    called = any(op.f == situation.f for op in calls)
    if called or situation.f in _ALWAYS or not is_whole:
        why = "" if called else f": the agent never called {situation.f}"
        return Verdict.UNKNOWN, f"the answer never came{why}"
    return Verdict.NOT_APPLICABLE, f"the agent never calls {situation.f}, so it is never answered"


_ALWAYS = frozenset({"acquire", "send"})
"""Calls no agent can do without. What is wrong with one that never looks up, gives back or writes an
opt-out shows in other situations."""


def _ends(history: History, what: str) -> list[str]:
    """How runs of the agent ended: ``raised`` or ``cut_off``."""
    words = {"raised": "raised", "cut_off": "was cut off:"}[what]
    return [
        f"the agent {words} {event.data[what]}"
        for event in history
        if isinstance(event, MarkEvent) and event.name == END and event.data.get(what)
    ]


def _why(findings: Sequence[Finding]) -> str:
    """The most telling finding: of the rules about agents the one that names a habit."""
    ranked = sorted(findings, key=lambda each: (_rank(each.rule), each.t))
    return ranked[0].message if ranked else ""


def _rank(rule: str) -> int:
    order = ("agent.habits", "agent.next_action", "agent.keys", "agent.renewals")
    return order.index(rule) if rule in order else len(order)


def _ops(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(op for finding in findings for op in finding.ops))


def _steps(calls: Sequence[Operation]) -> list[str]:
    """Calls in words, with the time between; the same call again and again is one."""
    told: list[tuple[str, str, int]] = []
    before: Operation | None = None
    for op in calls:
        what = f"{op.f}: {outcome(op)}"
        if told and told[-1][1] == what:
            told[-1] = (told[-1][0], what, told[-1][2] + 1)
        else:
            told.append((_waited(before, op), what, 1))
        before = op
    words = [f"{waited}{what}{f' ({n} times)' if n > 1 else ''}" for waited, what, n in told]
    more = len(words) - STEPS_MAX
    return words if more <= 0 else [*words[:STEPS_MAX], f"and {more} more"]


def _waited(before: Operation | None, op: Operation) -> str:
    if before is None:
        return ""
    waited_ns = op.invoked_ns - (before.completed_ns or before.invoked_ns)
    return f"after {waited_ns / 1e9:.1f} s " if waited_ns >= _LONG_NS else ""


_LONG_NS = 50_000_000
"""A pause between two calls that is told."""


def outcome(op: Operation) -> str:
    """What a call came to, in one or two words."""
    match op.type:
        case OpType.INVOKE:
            return "no answer"
        case OpType.OK:
            return _done(op.answer)
        case _:
            return str(op.code or "unknown").replace("reply_lost", "reply lost")


def _done(answer: Any) -> str:
    match answer.get("answer"):
        case "Lease":
            return f"token {answer['token']}"
        case "Sent":
            return "replayed" if answer.get("replay") else "sent"
        case "Found":
            return f"found {answer['state']}"
        case other:
            return str(other).lower()
