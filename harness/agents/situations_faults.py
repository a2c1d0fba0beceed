"""What happens to an agent without an answer: a lost reply, a crash, a wrong clock, the next day (spec: A)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..faults import FaultKind
from .stage import OPT_OUT, SETTINGS, SHORT, Situation, Stage, lost

SHORT_KEY = replace(SHORT, key_window_s=0.6)
SKEW_S = 30.0

_AFTER_LOSS = {
    "acquire": "take the contact for claimed by nobody you know: ask again later; never send without a token",
    "renew": "take the lease for not renewed: renew again, or stop before it ends",
    "send": "look the key up; retry only if no message id exists, and with the same key",
    "lookup": "ask again; send nothing before an answer is there",
    "suppress": "put the contact on the list again; send nothing",
    "release": "release again, or let the lease end; the work is over",
}


_WAITED_FOR = frozenset({"acquire", "renew"})
"""Calls after whose loss an agent may wait for the lease's end."""


def _losing(f: str) -> Callable[[Stage], None]:
    """A situation in which the reply to the agent's first call of `f` is lost."""

    def lose(stage: Stage) -> None:
        person = stage.person()
        stage.own(stage.person())
        people = (person, person) if f == "renew" else (person,)
        drafting_s = 1.5 * stage.race.settings.lease_s if f == "renew" else 0.0
        stage.send_meets(stage.agent.lose_next_reply, *people, f=f, drafting_s=drafting_s)

    return lose


def lost_suppress(stage: Stage) -> None:
    """The reply is lost with which the list takes an opt-out in."""
    stage.own(stage.person())
    stage.send_meets(stage.agent.lose_next_reply, stage.person(), f="suppress", inbound=OPT_OUT)


def lost_lookup(stage: Stage) -> None:
    """The reply to a send is lost, and then the reply to the look-up."""
    person = stage.person()
    stage.own(stage.person())
    first, second = stage.agent.hold_at("send.think"), stage.agent.hold_at("lookup.think")
    run = stage.engage(person)
    for stop, f in ((first, "send"), (second, "lookup")):
        stage.reach(stop, f, run)
        stage.agent.lose_next_reply()
        stop.resume()
    run.wait()


def crash_after_send(stage: Stage) -> None:
    """The agent crashes when its message is out and before it knows; the same run is started again."""
    _crash(stage, "send.returned", "send")


def crash_under_lease(stage: Stage) -> None:
    """The agent crashes when its claim is granted and before it knows; the run is started again."""
    _crash(stage, "acquire.returned", "acquire")


def _crash(stage: Stage, point: str, f: str) -> None:
    person = stage.person()
    stage.own(stage.person())
    stop = stage.agent.kill_at(point)
    run = stage.engage(person)
    stage.reach(stop, f, run)
    run.wait()
    stage.agent.restart()
    stage.engage(person).wait()


def _skewed(offset_s: float) -> Callable[[Stage], None]:
    """A situation in which the agent's clock is wrong and its work takes longer than a lease."""

    def skew(stage: Stage) -> None:
        person = stage.person()
        stage.own(stage.person())
        stage.agent.skew(offset_s)
        stage.engage(person, drafting_s=1.2 * stage.race.settings.lease_s).wait()
        stage.agent.skew(0.0)

    return skew


def next_day(stage: Stage) -> None:
    """The run is started again when the window of its keys has closed."""
    person = stage.person()
    stage.engage(person).wait()
    scratch = stage.own(stage.person())
    at_ms = scratch.granted_at_ms or scratch.acquired_at_ms
    window_ms = int(stage.race.settings.key_window_s * 1000)
    stage.race.pass_store_time(at_ms + window_ms)
    stage.engage(person).wait()


def _loss(f: str, lead: Callable[[Stage], None]) -> Situation:
    return Situation(
        name=f"lost_{f}",
        answer=f"no reply to {f}",
        f=f,
        right=_AFTER_LOSS[f],
        spec=("A1", "K10"),
        lead=lead,
        given=lost(f),
        settings=SHORT if f in _WAITED_FOR else SETTINGS,
    )


FAULTS = (
    *(_loss(f, _losing(f)) for f in ("acquire", "renew", "send")),
    _loss("lookup", lost_lookup),
    _loss("release", _losing("release")),
    _loss("suppress", lost_suppress),
    Situation(
        name="crash_after_send",
        answer="nothing: it crashed after its send",
        f="send",
        right="go on under the same run id and key; never write twice",
        spec=("A1", "O1", "O2"),
        lead=crash_after_send,
        fault=FaultKind.CRASH,
        settings=SHORT,
    ),
    Situation(
        name="crash_under_lease",
        answer="nothing: it crashed after its claim",
        f="acquire",
        right="wait for the old lease to end, then acquire again",
        spec=("A1", "A2", "X9"),
        lead=crash_under_lease,
        fault=FaultKind.CRASH,
        settings=SHORT,
    ),
    Situation(
        name="clock_ahead",
        answer="answers under a clock 30 s ahead",
        f="send",
        right="let the store's answers decide, never the own clock",
        spec=("A1", "L5"),
        lead=_skewed(SKEW_S),
        fault=FaultKind.SKEW,
        settings=SHORT,
    ),
    Situation(
        name="clock_behind",
        answer="answers under a clock 30 s behind",
        f="send",
        right="let the store's answers decide, never the own clock",
        spec=("A1", "L5"),
        lead=_skewed(-SKEW_S),
        fault=FaultKind.SKEW,
        settings=SHORT,
    ),
    Situation(
        name="next_day",
        answer="nothing: the same run once more, after the key's window",
        f="send",
        right="write down what was sent, and send it no second time",
        spec=("O3", "K5"),
        lead=next_day,
        settings=SHORT_KEY,
        again=True,
    ),
)
"""Situations that are made by a fault, or by time."""
