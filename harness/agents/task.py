"""What an agent under test is asked to do."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..clocks import AgentClock, HostClock
from ..contract import MessageKind, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One message that is wanted: one logical send, however often it is tried.

    Args:
        to: The contact's address, as it came in.
        subject: A subject that may be used.
        draft: A text that may be used.
        intent: Id of the logical send. Put it into `Message.intent`; where a message carries none, it
            is filled in by recipient, subject and text, so that what arrives can be counted.
        step: Name of the step in the run, unique in it: for the key (spec: K7).
        drafting_s: How long the work on it takes. Spend it with ``stop.wait``: a lease may end in it.
        inbound: What the contact wrote last, or "". An opt-out in it comes before anything else.
    """

    to: str
    subject: str
    draft: str
    intent: str
    step: str
    drafting_s: float = 0.0
    inbound: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """The work of one run.

    Args:
        agent: The agent's id; the mailbox knows it by this name.
        run: Id of the run; a run that is started again has the same (spec: O1).
        thread: Id of the conversation.
        goal: Why is written, in one sentence.
        messages: What is wanted, in this order, at least one.
        kind: What the messages are.
        attempt: 0 at first; one more for each time the same run was started before.
        settings: The lengths the mailbox keeps: of a lease, of a cooldown, of a key's window.
        clock: The agent's own clock, which may be wrong: a hint for when to renew (spec: L5).
        memory: What the agent writes down; it is there again after a crash and a restart.
    """

    agent: str
    run: str
    thread: str
    goal: str
    messages: tuple[Assignment, ...]
    kind: MessageKind = MessageKind.COMMERCIAL
    attempt: int = 0
    settings: Settings = field(default_factory=Settings)
    clock: AgentClock = field(default_factory=HostClock)
    memory: MutableMapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The first contact's address."""
        return self.messages[0].to

    @property
    def recipients(self) -> tuple[str, ...]:
        """All addresses, each once."""
        return tuple(dict.fromkeys(each.to for each in self.messages))

    @property
    def subject(self) -> str:
        """Subject of the first message."""
        return self.messages[0].subject

    @property
    def draft(self) -> str:
        """Text of the first message."""
        return self.messages[0].draft

    @property
    def intent(self) -> str:
        """Id of the first logical send."""
        return self.messages[0].intent


_PLAIN = ("agent", "run", "thread", "goal", "kind", "attempt")


def task_to_json(task: AgentTask) -> dict[str, Any]:
    """What of a task crosses to an agent's process, and stands in the history."""
    value: dict[str, Any] = {name: getattr(task, name) for name in _PLAIN}
    return value | {"messages": msgspec.to_builtins(task.messages)}


def task_from_json(
    value: Mapping[str, Any],
    *,
    settings: Settings,
    clock: AgentClock,
    memory: MutableMapping[str, str],
) -> AgentTask:
    """The task from `task_to_json`'s form, with what belongs to the agent's own side."""
    return AgentTask(
        **{name: value[name] for name in _PLAIN if name != "kind"},
        kind=MessageKind(value["kind"]),
        messages=msgspec.convert(value["messages"], tuple[Assignment, ...]),
        settings=settings,
        clock=clock,
        memory=memory,
    )
