"""How an agent under test is found, and what is said of one that can't be."""

from __future__ import annotations

import pytest

from leaserace.harness.agents import AgentTask, Assignment, agent_called
from leaserace.harness.agents.task import task_from_json, task_to_json
from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import MessageKind, Settings, UsageError

USERS = "tests.support.agents_of_users"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sales", "no agent is called 'sales': give MODULE:FUNCTION"),
        (":run", "no agent is called ':run'"),
        ("sales:", "no agent is called 'sales:'"),
    ],
)
def test_a_name_of_another_form_is_refused_with_the_right_one(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        agent_called(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module:run", "importing 'no_such_module' failed: ModuleNotFoundError"),
        (f"{USERS}:nobody", "has no 'nobody'"),
        (f"{USERS}:NO_FUNCTION", "is 7, which is no function"),
        (f"{USERS}:two_arguments", "can't be called: too many positional arguments"),
        ("tests.support.import_raises:run", "importing 'tests.support.import_raises' failed"),
    ],
)
def test_an_agent_that_can_not_be_called_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        agent_called(name).open()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_shows_no_signature_is_taken_as_it_is() -> None:
    """A function of C may not say what it takes."""
    agent_called("builtins:max").open().close()


def test_a_task_crosses_to_a_process_and_back() -> None:
    wanted = Assignment(to="jane@example.com", subject="s", draft="d", intent="i", step="step-1")
    task = AgentTask(
        agent="sales-01",
        run="run-1",
        thread="thread-1",
        goal="why",
        messages=(wanted, wanted),
        kind=MessageKind.TRANSACTIONAL,
        attempt=2,
        settings=Settings(lease_s=1.0),
        clock=ManualClock(),
        memory={},
    )
    again = task_from_json(
        task_to_json(task), settings=task.settings, clock=task.clock, memory=task.memory
    )
    assert again == task
    assert (again.address, again.subject, again.draft) == ("jane@example.com", "s", "d")
    assert (again.intent, again.recipients) == ("i", ("jane@example.com",))
