"""Control messages between the coordinator and its processes: JSON bytes on a pipe, each way typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

SKEW_TOLERANCE_S = 0.25
"""How far a measured skew may be off: reading two clocks takes time on a crowded machine."""


class Connection(Protocol):
    """One end of a pipe, as the door hands it out."""

    def send_bytes(self, buf: bytes) -> None: ...
    def recv_bytes(self) -> bytes: ...
    def poll(self, timeout: float | None = 0.0) -> bool: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class _Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A control message."""


class Be(_Message, frozen=True, kw_only=True, tag="be"):
    """First message to a new process: which part it plays.

    Args:
        role: ``agent``, ``host`` or ``sink``.
        log: File its standard output and error go to.
        orders: What the role must know, as JSON.
    """

    role: str
    log: str
    orders: Mapping[str, Any]


class Call(_Message, frozen=True, kw_only=True, tag="call"):
    """Make one recorded call.

    Args:
        call: Number that joins it with its answer.
        f: Mailbox method.
        contact: The scenario's name for the person.
        args: Its arguments as JSON.
        at_ns: Monotonic instant to begin at, or None for now.
    """

    call: int
    f: str
    contact: str
    args: Mapping[str, Any]
    at_ns: int | None = None


class Arm(_Message, frozen=True, kw_only=True, tag="arm"):
    """Report the next passing of `point`, then wait for `Go`."""

    stop: int
    point: str


class Disarm(_Message, frozen=True, kw_only=True, tag="disarm"):
    """Forget an armed point."""

    stop: int


class Go(_Message, frozen=True, kw_only=True, tag="go"):
    """Go on from an armed point."""


class LoseReply(_Message, frozen=True, kw_only=True, tag="lose_reply"):
    """Drop the next call's answer."""


class SlowReply(_Message, frozen=True, kw_only=True, tag="slow_reply"):
    """Hold the next call's answer back."""

    seconds: float


class Skew(_Message, frozen=True, kw_only=True, tag="skew"):
    """Put the process's clock ahead (negative: behind)."""

    offset_s: float


class Learn(_Message, frozen=True, kw_only=True, tag="learn"):
    """Import a playbook, so that all can begin at one instant; ``module:qualname``."""

    playbook: str


class Play(_Message, frozen=True, kw_only=True, tag="play"):
    """Act by a playbook until `until_ns`.

    Args:
        playbook: ``module:qualname``, learnt before.
        data: What the playbook is given.
        at_ns: Monotonic instant to begin at.
        until_ns: Monotonic instant to end at.
        seed: Of its draws.
    """

    playbook: str
    data: Mapping[str, Any]
    at_ns: int
    until_ns: int
    seed: str


class Ask(_Message, frozen=True, kw_only=True, tag="ask"):
    """Ask the target's host: ``start``, ``now_ms``, ``crash_store``, ``audit`` or ``stop``."""

    what: str
    data: Mapping[str, Any] = {}


class Race(_Message, frozen=True, kw_only=True, tag="race"):
    """Count deliveries afresh and write them to `path` from now on."""

    path: str


class Behave(_Message, frozen=True, kw_only=True, tag="behave"):
    """What the sink does from now on; `slow_s` is how long it holds a reply when slow."""

    behaviour: str
    slow_s: float


class Count(_Message, frozen=True, kw_only=True, tag="count"):
    """Ask how many messages arrived.

    Args:
        intents: A message with one of these is counted,
        recipients: or one to one of these.
        awaited: Intents that should have arrived.
    """

    intents: Sequence[str] = ()
    recipients: Sequence[str] = ()
    awaited: Sequence[str] = ()


class End(_Message, frozen=True, kw_only=True, tag="end"):
    """Come to an orderly end."""


class Ready(_Message, frozen=True, kw_only=True, tag="ready"):
    """The role is taken up."""

    data: Mapping[str, Any] = {}


class Failed(_Message, frozen=True, kw_only=True, tag="failed"):
    """It could not be done.

    Args:
        why: One sentence.
        usage: True if the user's `UsageError` says so, in words meant for the user.
        broken: True if the target gave what the contract does not allow.
    """

    why: str
    usage: bool = False
    broken: bool = False


class Reached(_Message, frozen=True, kw_only=True, tag="reached"):
    """The caller stands at an armed point since `t` (monotonic ns)."""

    stop: int
    t: int


class Answered(_Message, frozen=True, kw_only=True, tag="answered"):
    """A call's answer, as the agent saw it."""

    call: int
    value: Mapping[str, Any]


class Skewed(_Message, frozen=True, kw_only=True, tag="skewed"):
    """The skew measured where calls are made, and in a thread, in seconds."""

    in_call_s: float
    in_thread_s: float

    def took(self, offset_s: float) -> bool:
        """Whether it is the skew that was wanted, in both places."""
        seen = (self.in_call_s, self.in_thread_s)
        return all(abs(seen_s - offset_s) <= SKEW_TOLERANCE_S for seen_s in seen)


class Played(_Message, frozen=True, kw_only=True, tag="played"):
    """A playbook ended.

    Args:
        calls: How many calls it made.
        longest_s: The longest it waited for one answer.
        problem: What it raised, or "".
    """

    calls: int
    longest_s: float
    problem: str = ""


class Told(_Message, frozen=True, kw_only=True, tag="told"):
    """An answer of the host or the sink."""

    value: Any = None


class Ended(_Message, frozen=True, kw_only=True, tag="ended"):
    """The orderly end is done; `problem` says what the target did wrong in it."""

    problem: str = ""


Command = (
    Be
    | Call
    | Arm
    | Disarm
    | Go
    | LoseReply
    | SlowReply
    | Skew
    | Learn
    | Play
    | Ask
    | Race
    | Behave
    | Count
    | End
)
Reply = Ready | Failed | Reached | Answered | Skewed | Played | Told | Ended

_encoder = msgspec.json.Encoder()
_commands: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def send(connection: Connection, message: Command | Reply) -> None:
    """Write one message.

    Raises:
        OSError: The other side is gone.
    """
    connection.send_bytes(_encoder.encode(message))


def next_command(connection: Connection) -> Command:
    """Wait for the coordinator's next message.

    Raises:
        EOFError: The coordinator is gone.
    """
    return _commands.decode(_receive(connection))


def next_reply(connection: Connection) -> Reply:
    """Wait for a process's next message.

    Raises:
        EOFError: The process is gone.
    """
    return _replies.decode(_receive(connection))


def _receive(connection: Connection) -> bytes:
    try:
        return connection.recv_bytes()
    except OSError as error:  # also a message cut off by a SIGKILL
        raise EOFError from error
