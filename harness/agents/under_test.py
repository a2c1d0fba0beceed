"""How an agent under test is reached: a Python callable today; other ways come through the same seam."""

from __future__ import annotations

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from ..contract import UsageError
from .mailbox import AgentMailbox, StopSignal
from .task import AgentTask

Run = Callable[[AgentMailbox, AgentTask, StopSignal], Any]
"""What a user writes; it returns when the work is done, or when ``stop`` is set."""

FORM = "give MODULE:FUNCTION, such as ours.sales:run, with run(mailbox, task, stop)"


class AgentSession(Protocol):
    """An agent that is ready to work, in its seat's own process."""

    def run(self, mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
        """Do one task to its end; whatever it raises is the agent's own."""
        ...

    def close(self) -> None:
        """Give back what `AgentUnderTest.open` took."""
        ...


class AgentUnderTest(ABC):
    """An agent somebody wants to add.

    An agent in another language is another subclass: `open` starts or reaches its program and its
    `AgentSession` serves it the mailbox over REST or MCP. Situations, rules and reports stay the same.

    Attributes:
        name: As the user named it.
    """

    name: str

    @abstractmethod
    def open(self) -> AgentSession:
        """Make the agent ready; called in the seat's own process, once for each start of the agent.

        Raises:
            UsageError: It can't be reached, for a reason that is the user's to mend.
        """


class PythonAgent(AgentUnderTest):
    """An agent that is a Python function.

    Args:
        name: ``module:function``.

    Raises:
        UsageError: The name has another form.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.module, colon, self._attribute = name.partition(":")
        if not colon or not self.module or not self._attribute:
            raise UsageError(f"no agent is called {name[:80]!r}: {FORM}")

    def open(self) -> AgentSession:
        """Import it."""
        return PythonSession(self._find())

    def _find(self) -> Run:
        try:
            found: Any = importlib.import_module(self.module)
        except Exception as error:
            raise UsageError(
                f"agent {self.name!r}: importing {self.module!r} failed:"
                f" {type(error).__name__}: {error}: run leaserace where it can be imported"
            ) from error
        for part in self._attribute.split("."):
            found = getattr(found, part, None)
        if found is None:
            raise UsageError(
                f"agent {self.name!r}: module {self.module!r} has no {self._attribute!r}: {FORM}"
            )
        _check(self.name, found)
        run: Run = found
        return run


class PythonSession:
    """A function, ready to be called; a coroutine function is run to its end.

    Args:
        function: The user's.
    """

    def __init__(self, function: Run) -> None:
        self._function = function

    def run(self, mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
        """Call it."""
        result = self._function(mailbox, task, stop)
        if inspect.iscoroutine(result):
            import asyncio  # it is slow to import, and only few need it

            asyncio.run(result)

    def close(self) -> None:
        """Nothing was taken."""


def _check(name: str, found: Any) -> None:
    """Refuse what can't be called with three things."""
    if not callable(found):
        raise UsageError(f"agent {name!r} is {found!r:.100}, which is no function: {FORM}")
    try:
        inspect.signature(found).bind(None, None, None)
    except TypeError as error:
        raise UsageError(f"agent {name!r} can't be called: {error}: {FORM}") from error
    except ValueError:  # a callable that shows no signature
        return


def agent_called(name: str) -> AgentUnderTest:
    """The agent of this name.

    Args:
        name: ``module:function``.

    Raises:
        UsageError: It has another form.
    """
    return PythonAgent(name)
