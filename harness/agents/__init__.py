"""The seam for a user's own agent: what it is given, how it is reached, and where it is judged (spec: A).

A user writes one function, ``run(mailbox, task, stop)``; its types are here. Everything else in this
package seats it, leads it into the situations of spec R and tells its author what it did.
"""

from .mailbox import AgentMailbox, OutcomeUnknown, StopSignal
from .task import AgentTask, Assignment
from .under_test import AgentSession, AgentUnderTest, PythonAgent, agent_called

__all__ = [
    "AgentMailbox",
    "AgentSession",
    "AgentTask",
    "AgentUnderTest",
    "Assignment",
    "OutcomeUnknown",
    "PythonAgent",
    "StopSignal",
    "agent_called",
]
