"""The agent's kit: one recorded call of a mailbox, with points around it.

Both engines use it, so a history looks the same whoever recorded it. Points of a call, in order:
``<f>.think`` (before the invoke is recorded: an agent must be able to stand still there, else every
send overlaps everything and interval rules excuse it), ``<f>.invoked`` (recorded, the target not yet
called), ``<f>.returned`` (the target has answered, the completion is not yet recorded).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .answers import (
    ContractBroken,
    check,
    event_from_json,
    message_from_json,
    message_to_json,
    to_json,
    unmade,
)
from .contract import Answer, Endpoint, Mailbox, Message, NoReply, Refused
from .history import AnyEvent, FaultEvent, OpEvent, OpType
from .points import point

REPLY_LOST = "reply_lost"
CONTRACT_BROKEN = "contract_broken"
CONTRACT_MARK = "contract.broken"
"""Mark of a target that broke the contract outside of a recorded call; its data say ``what``."""
RAISED = "raised"
SENDING = frozenset(Endpoint)
"""Methods that send; a history calls each of them ``send`` (spec: K8)."""


class Kit:
    """Calls a mailbox and records each call.

    Args:
        mailbox: What `Target.connect` returned.
        agent: Agent id.
        incarnation: 0 at first, one more after each restart.
        record: Where events go.
        now_ns: The history's clock.
        seat: Names its processes and operations where two processes share an agent id (replicas).
    """

    def __init__(
        self,
        *,
        mailbox: Mailbox,
        agent: str,
        incarnation: int,
        record: Callable[[AnyEvent], None],
        now_ns: Callable[[], int],
        seat: str = "",
    ) -> None:
        self.mailbox = mailbox
        self.agent = agent
        self._seat = seat or agent
        self._incarnation = incarnation
        self._record = record
        self._now_ns = now_ns
        self._ops = 0
        self._process = 0
        self._losses = 0
        self._slow_s = 0.0
        self.wait_s: Callable[[float], None] = lambda _: None

    def lose_next_reply(self) -> None:
        """The next call is executed and its answer dropped."""
        self._losses += 1

    def slow_next_reply(self, seconds: float) -> None:
        """The next call is executed and its answer held back for so long."""
        self._slow_s = seconds

    def call(self, f: str, contact: str, args: Mapping[str, Any]) -> Answer:
        """Make one call and record it.

        Args:
            f: The mailbox method.
            contact: The scenario's name for the person.
            args: Its arguments as JSON; for `send` the message under ``message``, as JSON or as it is;
                its endpoint says by which method of the mailbox.

        Returns:
            What the agent sees: the answer, or `NoReply`.
        """
        if isinstance(args.get("message"), Message):
            args = {"message": message_to_json(args["message"])}
        point(f"{f}.think")
        self._ops += 1
        op = f"{self._seat}.{self._incarnation}:{self._ops}"
        process = f"{self._seat}#{self._incarnation}.{self._process}"
        self._write(op, process, OpType.INVOKE, f, contact, args)
        point(f"{f}.invoked")
        answer, code = self._execute(f, args)
        point(f"{f}.returned")
        answer, code = self._maybe_lose(op, f, answer, code)
        kind = _outcome(answer)
        self._write(op, process, kind, f, contact, to_json(answer), code)
        if kind is OpType.INFO:
            self._process += 1
        return answer

    def _execute(self, f: str, args: Mapping[str, Any]) -> tuple[Answer, str | None]:
        if f == "send":
            f = args["message"].get("endpoint", f)
        method = getattr(self.mailbox, f, None)
        if not callable(method):
            kind = type(self.mailbox).__name__
            why = f"{f} is missing: connect() returned a {kind} without it, the target declares it"
            return NoReply(why=why), CONTRACT_BROKEN
        try:
            if f in SENDING:
                raw = method(message_from_json(args["message"]))
            elif f == "receive":
                raw = method(event_from_json(args["event"]))
            else:
                raw = method(**args)
            answer = check(f, raw)
        except ContractBroken as error:
            return NoReply(why=str(error)), CONTRACT_BROKEN
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises means "unknown"
            breach = unmade(f, error)
            if breach:
                return NoReply(why=_writable(breach)), CONTRACT_BROKEN
            return NoReply(why=_writable(f"{type(error).__name__}: {error}")), RAISED
        return answer, answer.code if isinstance(answer, Refused) else None

    def _maybe_lose(
        self, op: str, f: str, answer: Answer, code: str | None
    ) -> tuple[Answer, str | None]:
        """Drop or delay the answer where a fault asks for it; both instants are recorded."""
        if self._losses:
            self._losses -= 1
            self._fault("lost_reply", "begin", op, f)
            self._fault("lost_reply", "end", op, f)
            return NoReply(why="the reply was lost"), REPLY_LOST
        if self._slow_s:
            seconds, self._slow_s = self._slow_s, 0.0
            self._fault("slow_reply", "begin", op, f)
            self.wait_s(seconds)
            self._fault("slow_reply", "end", op, f)
        return answer, code

    def _fault(self, fault: str, phase: str, op: str, f: str) -> None:
        self._record(
            FaultEvent(
                t=self._now_ns(),
                agent=self.agent,
                fault=fault,
                phase=phase,
                id=f"{fault}:{op}",
                point=f"{f}.returned",
            )
        )

    def _write(  # noqa: PLR0917 - a line of the history, in its order
        self,
        op: str,
        process: str,
        kind: OpType,
        f: str,
        contact: str,
        value: Mapping[str, Any],
        code: str | None = None,
    ) -> None:
        self._record(
            OpEvent(
                t=self._now_ns(),
                agent=self.agent,
                process=process,
                op=op,
                type=kind,
                f=f,
                contact=contact,
                value=value,
                code=code,
            )
        )


def _writable(text: str) -> str:
    """An error may carry what no file takes, such as bytes of another encoding."""
    return text.encode("utf-8", "backslashreplace").decode()


def _outcome(answer: Answer) -> OpType:
    """`ok` happened, `fail` did not and never will, `info` may have (spec: R)."""
    match answer:
        case NoReply():
            return OpType.INFO
        case Refused(code=code):
            return OpType.FAIL if code.meaning.definite else OpType.INFO
        case _:
            return OpType.OK
