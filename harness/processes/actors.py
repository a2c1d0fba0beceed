"""An agent as the coordinator moves it: a process of its own, spoken to over its pipe."""

from __future__ import annotations

import contextlib
import signal
import time
from pathlib import Path

import msgspec

from ..answers import from_json
from ..clocks import monotonic_ns
from ..contract import NoReply, UsageError
from ..faults import AimedFault, FaultKind
from ..scenario import Actor, Call, Pending, Stop
from . import child, door, pause, wire
from .agent import Orders
from .crew import Crew
from .deadlines import RaceAborted
from .pending import ProcessPending, ProcessStop


class ProcessActor(Actor):
    """An agent that is a process.

    Args:
        crew: The race's agents.
        agent_id: Its id.
        seat: Name of its processes; another than the id where two share one.
        folder: Where its event files and its log go.
        orders: What it is told, for incarnation 0.
    """

    def __init__(
        self, crew: Crew, *, agent_id: str, seat: str, folder: Path, orders: Orders
    ) -> None:
        self.id = agent_id
        self.seat = seat
        self.crew = crew
        self.incarnation = 0
        self.files: list[Path] = []
        self.stops: dict[int, ProcessStop] = {}
        self.is_up = False
        self._folder = folder
        self._orders = orders
        self._child: door.Child | None = None
        self._calls: dict[int, ProcessPending] = {}
        self._number = 0
        self._said: dict[type[wire.Reply], wire.Reply] = {}
        self._killed = False
        self._crash: str | None = None
        self._skew: str | None = None
        self._playing = False
        self._plays_until_ns = 0

    # Its life.

    @property
    def connection(self) -> wire.Connection:
        """Our end of its pipe."""
        return self._process.connection

    @property
    def _process(self) -> door.Child:
        assert self._child is not None
        return self._child

    @property
    def who(self) -> dict[str, str]:
        """Names this process in a fault's detail, where two share an agent id."""
        return {"seat": self.seat} if self.seat != self.id else {}

    @property
    def is_busy(self) -> bool:
        """Whether a call of it, or a playbook, is under way."""
        return bool(self._calls) or self._playing

    @property
    def is_playing(self) -> bool:
        """Whether a playbook of it is under way."""
        return self._playing

    @property
    def time_left_s(self) -> float:
        """How long what it is doing may still take: a call, or a playbook and its grace."""
        deadlines = self.crew.deadlines
        if not self._playing:
            return deadlines.call_s
        return max(0.0, (self._plays_until_ns - monotonic_ns()) / 1e9 + deadlines.agent_s)

    @property
    def is_ready(self) -> bool:
        """Whether it has connected."""
        return wire.Ready in self._said

    @property
    def _log(self) -> Path:
        return self._folder / f"{self.seat}.log"

    def launch(self) -> None:
        """Give a process this agent's part; `await_ready` waits until it has connected."""
        events = self._folder / f"{self.seat}.{self.incarnation}.jsonl"
        self.files.append(events)
        orders = msgspec.structs.replace(
            self._orders, incarnation=self.incarnation, events=str(events)
        )
        self._child = self.crew.door.child()
        self._said.clear()
        self._killed = False
        self.is_up = True
        self._child.be("agent", self._log, msgspec.to_builtins(orders))

    def await_ready(self) -> None:
        """Wait until it has connected.

        Raises:
            UsageError: The target raised in `connect`.
            RaceAborted: It hung there, or died.
        """
        within_s = self.crew.deadlines.connect_s
        if not self._await(within_s, wire.Ready, wire.Failed):
            self.cut_off(f"connect() did not return within {within_s:g} s")
        failed = self._said.get(wire.Failed)
        if isinstance(failed, wire.Failed):
            raise UsageError(f"target {self._orders.target!r}, agent {self.id}: {failed.why}")

    def _await(self, within_s: float, *kinds: type[wire.Reply]) -> bool:
        return self.crew.wait_for(lambda: any(kind in self._said for kind in kinds), within_s)

    def hear(self) -> None:
        """Take in one message of it, or its death."""
        try:
            reply = wire.next_reply(self.connection)
        except EOFError:
            self._gone()
            return
        match reply:
            case wire.Answered(call=call, value=value):
                self._calls.pop(call).take(from_json(value))
            case wire.Reached(stop=number, t=t):
                stop = self.stops.get(number)
                if stop is not None and not self._killed:
                    stop.strike(t)
            case _:
                self._said[type(reply)] = reply
                if isinstance(reply, wire.Played):
                    self._playing = False

    def _gone(self) -> None:
        """It is dead: what is open stays open in the history."""
        self.is_up = False
        self._playing = False
        open_calls = [pending.f for pending in self._calls.values()]
        for pending in self._calls.values():
            pending.take(NoReply(why=f"{self.id} was killed" if self._killed else "it died"))
        self._calls.clear()
        for stop in self.stops.values():
            stop.lift()
        self.stops.clear()
        self.crew.ledger.end(self._skew)
        if not self._killed and not self._said.keys() & {wire.Ended, wire.Failed}:
            where = f" in {open_calls[0]}" if open_calls else ""
            self._process.kill()
            code = self._process.exit_code
            self._abort(f"died{where} (exit status {code}); its log is {self._log}")

    def _abort(self, what: str) -> None:
        text = f"{self.id}: {what}"
        self.crew.ledger.problem(text)
        raise RaceAborted(text)

    def cut_off(self, what: str) -> None:
        """Kill an agent that hangs; its open call stays open.

        Raises:
            RaceAborted: Always.
        """
        if child.STACKS is not None and self.is_up:
            self._process.signal(child.STACKS)
            time.sleep(0.05)  # for the stacks to be written; nothing depends on it
        self.end_process()
        self._abort(f"{what} and was cut off; where it stood is in {self._log}")

    def end_process(self) -> None:
        """SIGKILL, then take in what it said before."""
        self._killed = True
        self._process.kill()
        while self.is_up:
            self.hear()

    def kill(self, point: str = "") -> None:
        """Crash it now; what it had in memory is gone.

        The fault begins when it is dead: nothing of this incarnation comes after that instant.
        """
        if self.is_up:
            self.end_process()
            self._crash = self.crew.ledger.begin(FaultKind.CRASH, self.id, point=point, **self.who)

    def restart(self) -> None:
        """Start it again after a crash, as its next incarnation."""
        if self.is_up:
            self.kill()
        self.crew.ledger.end(self._crash)
        self.incarnation += 1
        self.crew.launch_later(self)

    def replica(self, number: int) -> ProcessActor:
        """Another process under the same id, not started yet."""
        return ProcessActor(
            self.crew,
            agent_id=self.id,
            seat=f"{self.id}~{number}",
            folder=self._folder,
            orders=msgspec.structs.replace(self._orders, seat=f"{self.id}~{number}"),
        )

    def tell_to_end(self) -> None:
        """Ask for its orderly end."""
        if self.is_up:
            self._process.send(wire.End())

    def await_end(self, left_s: float, within_s: float) -> None:
        """Wait for it; one that does not end is killed, which is a problem."""
        with contextlib.suppress(RaceAborted):  # it died: that is said already
            self.crew.wait_for(lambda: wire.Ended in self._said or not self.is_up, left_s)
        said = self._said.get(wire.Ended)
        if isinstance(said, wire.Ended) and said.problem:
            self.crew.ledger.mark("target.raised", {"what": said.problem}, self.id)
        if said is None and self.is_up:
            self.crew.ledger.problem(f"{self.id}: close() did not return within {within_s:g} s")
            self.end_process()
        self.is_up = False

    # Its calls.

    def start(self, call: Call, at_ns: int | None = None) -> Pending:
        """Begin a call, at once or at a monotonic instant."""
        message = call.args.get("message") or {}
        pending = ProcessPending(self, call.f, message.get("intent", ""))
        if not self.is_up:
            self.crew.ledger.problem(f"{self.id}: {call.f} was called after its crash")
            pending.take(NoReply(why=f"{self.id} is dead"))
            return pending
        self._number += 1
        self._calls[self._number] = pending
        self._process.send(
            wire.Call(
                call=self._number, f=call.f, contact=call.contact, args=call.args, at_ns=at_ns
            )
        )
        return pending

    def finish_calls(self) -> None:
        """Wait for every call under way."""
        for pending in tuple(self._calls.values()):
            pending.answer()

    def learn(self, playbook: str) -> None:
        """Let it import a playbook; `await_learnt` waits for that."""
        self._said.pop(wire.Told, None)
        self._process.send(wire.Learn(playbook=playbook))

    def await_learnt(self) -> None:
        """Wait until it knows its playbook."""
        within_s = self.crew.deadlines.import_s
        if not self._await(within_s, wire.Told):
            self.cut_off(f"its playbook was not imported within {within_s:g} s")

    def play(self, order: wire.Play) -> None:
        """Let it act by a playbook; `played` waits for its end."""
        self._said.pop(wire.Played, None)
        self._playing = True
        self._plays_until_ns = order.until_ns
        self._process.send(order)

    def played(self, within_s: float) -> wire.Played | None:
        """How its playbook went, or None if it was killed meanwhile."""
        if not self.crew.wait_for(lambda: wire.Played in self._said or not self.is_up, within_s):
            self.cut_off("its playbook did not end in time")
        self._playing = False
        said = self._said.get(wire.Played)
        return said if isinstance(said, wire.Played) else None

    # Its faults.

    def _arm(self, kind: FaultKind, point: str) -> Stop:
        self._number += 1
        fault = AimedFault(kind=kind, point=point)
        stop = self.stops[self._number] = ProcessStop(self, fault, self._number)
        self._process.send(wire.Arm(stop=stop.number, point=point))
        return stop

    def pause_at(self, point: str) -> Stop:
        """At its next `point`, SIGSTOP the process."""
        return self._arm(FaultKind.PAUSE, point)

    def hold_at(self, point: str) -> Stop:
        """At its next `point`, keep the caller there."""
        return self._arm(FaultKind.HOLD, point)

    def kill_at(self, point: str) -> Stop:
        """At its next `point`, SIGKILL the process."""
        return self._arm(FaultKind.CRASH, point)

    def disarm(self, stop: ProcessStop) -> None:
        """Forget a point it has not come to."""
        if self.stops.pop(stop.number, None) is not None and self.is_up:
            self._process.send(wire.Disarm(stop=stop.number))

    def release_stops(self) -> None:
        """Resume it wherever it stands, and forget what is armed."""
        for stop in tuple(self.stops.values()):
            stop.resume()

    def stop_process(self) -> float:
        """SIGSTOP it; returns the microseconds until its state showed it."""
        confirmed_us = pause.stop(self._process.pid)
        if confirmed_us is None:
            self._abort(f"was not seen stopped within {pause.WAIT_S:g} s of its SIGSTOP")
        assert confirmed_us is not None
        return confirmed_us

    def go_on(self, *, paused: bool) -> None:
        """Let it leave the point it stands at."""
        if self.is_up:
            if paused:
                self._process.signal(signal.SIGCONT)
            self._process.send(wire.Go())

    def lose_next_reply(self) -> None:
        """Its next call is executed, the answer is dropped."""
        self._process.send(wire.LoseReply())

    def slow_next_reply(self, seconds: float) -> None:
        """Its next call is executed, the answer is held back."""
        self._process.send(wire.SlowReply(seconds=seconds))

    def skew(self, offset_s: float) -> float:
        """Put its clock ahead or behind, and return the skew measured in it."""
        self._said.pop(wire.Skewed, None)
        self._process.send(wire.Skew(offset_s=offset_s))
        if not self._await(self.crew.deadlines.call_s, wire.Skewed):
            self.cut_off("it did not take its skew in time")
        seen = self._said[wire.Skewed]
        assert isinstance(seen, wire.Skewed)
        ledger = self.crew.ledger
        ledger.end(self._skew)
        self._skew = ledger.begin(
            FaultKind.SKEW,
            self.id,
            wanted_s=offset_s,
            measured_s=seen.in_call_s,
            in_thread_s=seen.in_thread_s,
            **self.who,
        )
        if not seen.took(offset_s):
            ledger.problem(
                f"{self.id}: a skew of {offset_s:+g} s did not take: measured"
                f" {seen.in_call_s:+.3f} s in calls, {seen.in_thread_s:+.3f} s in a thread"
            )
        return seen.in_call_s
