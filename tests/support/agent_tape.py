"""Literal histories of an agent that is under test."""

from __future__ import annotations

from typing import Any

import msgspec

from leaserace.harness.history import FaultEvent, MarkEvent
from leaserace.harness.rules.agents import AGENT_RULES, UNDER_TEST, AgentRule, habit_in

from .ops import JANE, SALES, Tape


class AgentTape(Tape):
    """A history whose first line says that sales-01 is under test.

    Its processes carry an incarnation, as those of both engines do.
    """

    def __init__(self, *agents: str, **settings: Any) -> None:
        super().__init__(**settings)
        self._incarnations: dict[str, int] = {}
        self.seat = ""
        """Whose process makes the next calls, where it is not the agent's first."""
        for agent in agents or (SALES,):
            self.events.append(MarkEvent(t=self._t(), name=UNDER_TEST, agent=agent))

    def invoke(self, agent: str, f: str, contact: str = JANE, **args: Any) -> str:
        """An operation begins."""
        op = super().invoke(agent, f, contact, **args)
        process = f"{self.seat or agent}#{self._incarnations.get(agent, 0)}.{len(self._ops)}"
        self._ops[op] = (agent, process, f, contact)
        self.events[-1] = msgspec.structs.replace(self.events[-1], process=process)
        return op

    def crash(self, agent: str = SALES) -> None:
        """The agent crashes and starts again."""
        for phase in ("begin", "end"):
            self.events.append(
                FaultEvent(t=self._t(), agent=agent, fault="crash", phase=phase, id="crash")
            )
        self._incarnations[agent] = self._incarnations.get(agent, 0) + 1

    def unknown(self, agent: str = SALES, contact: str = JANE, **args: Any) -> str:
        """A send that nobody answers."""
        op = self.invoke(agent, "send", contact, **args)
        return self.info(op, "reply_lost", answer="NoReply", why="the reply was lost")

    def found(self, key: str = "key-i1", message_id: str | None = None, agent: str = SALES) -> str:
        """A look-up from begin to end."""
        op = self.invoke(agent, "lookup", key=key)
        told = {"message_id": message_id} if message_id else {}
        return self.ok(op, answer="Found", state="delivered" if message_id else "absent", **told)

    def slips(self, rule: type[AgentRule]) -> list[str]:
        """What a rule says of it."""
        return [finding.message for finding in self.findings(rule)]

    def habits(self) -> set[str]:
        """The habits that are named."""
        named = {habit_in(finding) for finding in self.findings(*AGENT_RULES)}
        return named - {""}
