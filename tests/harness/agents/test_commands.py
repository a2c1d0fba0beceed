"""``--agent`` as its user meets it, with gate and explore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leaserace.harness import cli

OURS = "leaserace.harness.agents.ours"
USERS = "tests.support.agents_of_users"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def status(*arguments: str) -> int:
    return cli._status(list(arguments))


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gate", "--agent", "sales"), "no agent is called 'sales': give MODULE:FUNCTION"),
        (("gate", "--agent", "no_such:run"), "importing 'no_such' failed"),
        (("gate", "--agent", f"{USERS}:NO_FUNCTION"), "is no function"),
        (("gate", "--agent", f"{USERS}:two_arguments"), "can't be called"),
        (
            ("gate", "--agent", f"{USERS}:idle", "--situation", "lost_sent"),
            "did you mean lost_send",
        ),
        (("gate", "--agent", f"{USERS}:idle", "--situation", "?"), "there are contact_owned"),
        (("gate", "--situation", "lost_send"), "give --agent too"),
        (("explore", "--situation", "lost_send"), "give --agent too"),
        (("explore", "--agent", "sales"), "no agent is called 'sales'"),
        (("explore", "--agent", f"{USERS}:idle", "--subject", "prog.A"), "leave it out"),
    ],
)
def test_a_mistake_is_one_line_and_exit_status_2(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(*arguments) == 2
    line = capsys.readouterr().err
    assert said in line
    assert line.count("\n") == 1


@pytest.mark.process
def test_the_gate_tells_the_author_of_a_bad_agent_what_it_did(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """spec: A1, A3"""
    name = f"{OURS}:uuid_per_call"
    only = ("--situation", "lost_send", "--situation", "contact_owned")
    assert status("gate", "--agent", name, *only, "--seed", "1") == 1

    text = capsys.readouterr().out
    assert "an agent with a bad habit" in text
    assert "Habits recognised: uuid-per-call (1 answer)." in text
    assert "send: reply lost, lookup: found absent, send: sent" in text
    assert "right: look the key up" in text
    assert "Do not add it to a shared mailbox" in text
    assert f"leaserace gate --agent {name} --situation lost_send" in text
    page = Path(".leaserace/latest/report.html").read_text(encoding="utf-8")
    assert '<section id="agent"' in page
    assert "## The agent" in Path(".leaserace/latest/summary.md").read_text(encoding="utf-8")


@pytest.mark.process
def test_the_gate_is_valid_for_a_well_behaved_agent_and_says_so_in_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """spec: A1"""
    only = ("--situation", "suppressed", "--situation", "lost_acquire")
    agent = f"{OURS}:well_behaved"
    assert status("gate", "--agent", agent, *only, "--seed", "0", "--json") == 0
    verdict = told(capsys)
    assert verdict["agent"]["name"] == agent
    assert [each["situation"] for each in verdict["agent"]["answers"]] == [
        "suppressed",
        "lost_acquire",
    ]
    assert verdict["canary"]["is_agent"] is True
    assert verdict["canary"]["caught"] is True


@pytest.mark.process
def test_with_a_target_of_the_users_the_six_races_come_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An agent can only be judged against a mailbox that holds (spec: A)."""
    target = "leaserace.reference_impl.broken.without_case_folding:target"
    agent = ("--agent", f"{OURS}:well_behaved", "--situation", "suppressed")
    assert status("gate", "--target", target, *agent, "--rounds", "1", "--json") == 1
    races = told(capsys)["races"]
    assert races[0]["scenario"] == "two_spellings"
    assert races[-1]["scenario"] == "agent"
    assert races[-1]["verdict"] == "not run"


@pytest.mark.process
def test_an_agent_that_does_nothing_is_unknown_and_exit_status_4(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A situation that never gave its answer is never passed (spec: A)."""
    agent = ("--agent", f"{USERS}:idle", "--situation", "lost_send")
    assert status("gate", *agent, "--seed", "1") == 4
    assert "the agent never called send" in " ".join(capsys.readouterr().out.split())


def test_explore_judges_an_agent_in_virtual_time(capsys: pytest.CaptureFixture[str]) -> None:
    """spec: A1, A3"""
    agent = ("--agent", f"{OURS}:blind_retry", "--situation", "suppressed")
    assert status("explore", *agent, "--schedules", "3", "--seed", "1", "--json") == 1
    verdict = told(capsys)
    assert verdict["command"] == "explore"
    assert verdict["agent"]["habits"] == {"blind-retry": 1}
    assert verdict["races"][0]["rounds"] == 3
    assert "3 schedules in virtual time" in verdict["notices"][0]


def test_a_finding_of_explore_comes_again_by_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    agent = ("--agent", f"{OURS}:blind_retry", "--situation", "lost_send")
    assert status("explore", *agent, "--schedules", "2", "--seed", "5", "--json") == 1
    first = told(capsys)["races"][0]
    again = first["again"].split()[1:]
    assert status(*again, "--json") == 1
    second = told(capsys)["races"][0]
    assert second["findings"] == first["findings"]


def test_explore_says_that_an_agent_is_not_deterministic(
    capsys: pytest.CaptureFixture[str],
) -> None:
    agent = ("--agent", f"{USERS}:with_random_key", "--situation", "suppressed")
    assert status("explore", *agent, "--schedules", "1", "--json") == 0
    assert "not deterministic" in told(capsys)["notices"][1]


def test_explore_cuts_off_an_agent_that_turns_in_a_circle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaserace.harness.agents.exploring.REAL_S", 0.2)
    agent = ("--agent", f"{USERS}:spins", "--situation", "suppressed")
    assert status("explore", *agent, "--schedules", "1", "--json") == 4
    (answer,) = told(capsys)["agent"]["answers"]
    assert "did not return within 0.2 s of real time" in answer["why"]


def test_explore_leaves_out_what_a_target_can_not_do(capsys: pytest.CaptureFixture[str]) -> None:
    agent = ("--agent", f"{USERS}:idle", "--situation", "lost_send")
    assert status("explore", "--target", "tests.support.toy:ToyTarget", *agent, "--json") == 5
    (race,) = told(capsys)["races"]
    assert race["verdict"] == "not applicable"


def test_explore_prints_the_table_too(capsys: pytest.CaptureFixture[str]) -> None:
    agent = ("--agent", f"{USERS}:careful", "--situation", "suppressed")
    assert status("explore", *agent, "--schedules", "1") == 0
    text = capsys.readouterr().out
    assert "send: suppressed, release: released" in text
    assert "Explore: VALID" in text
