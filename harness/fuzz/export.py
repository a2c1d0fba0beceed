"""A finding as a pytest file, and the function such a file calls."""

from __future__ import annotations

import importlib
import json
import re
import tempfile
from pathlib import Path
from textwrap import dedent
from typing import Any

from ..targets import load_target
from ..verdict import RaceResult, Verdict
from .stands import RACE, Played, play
from .steps import Plan
from .words import tell


def as_test(played: Played, target: str) -> str:
    """A pytest file that fails for as long as the target shows the finding.

    Args:
        played: The run, shrunk.
        target: Name of the target.
    """
    finding = played.findings[0]
    steps = "\n".join(tell(played))
    name = re.sub(r"[^a-z0-9]+", "_", finding.rule.lower()).strip("_")
    head = dedent(
        '''\
        """{sentence}

        Found by `leaserace fuzz`; rule {rule} (spec: {spec}).
        Another mailbox is tried with ``-k test_{name} --leaserace-target MODULE:ATTR``.
        """

        from leaserace.harness.fuzz.export import check, target_of

        TARGET = {target}
        PLAN = {plan}


        def test_{name}(request):
            """{steps}
            """
            check(PLAN, target_of(request, TARGET){real})
        '''
    )
    return head.format(
        sentence=_in_docstring(finding.message),
        rule=finding.rule,
        spec=", ".join(finding.spec),
        target=json.dumps(target),
        plan=json.dumps(played.plan.to_text()),
        name=name,
        real=", real=True" if played.is_real else "",
        steps=_in_docstring(steps).replace("\n", "\n    "),
    )


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def replay(plan: str, target: str, *, real: bool = False) -> Played:
    """Play a plan.

    Args:
        plan: Its text.
        target: Name of a target.
        real: On real processes instead of the simulator.

    Raises:
        UsageError: One of them can't be read.
    """
    from .simulated import SimStand

    if not real:
        with SimStand(load_target(target)) as stand:
            return play(stand, Plan.from_text(plan))
    from .real import RealStand

    with (
        tempfile.TemporaryDirectory(prefix="leaserace-") as folder,
        RealStand(target, load_target(target), run_dir=Path(folder)) as processes,
    ):
        return play(processes, Plan.from_text(plan))


def check(plan: str, target: str, *, real: bool = False) -> None:
    """Fail with the story if a rule has a finding, or the plan can't be judged."""
    import pytest

    played = replay(plan, target, real=real)
    if played.verdict is not Verdict.VALID:
        raise pytest.fail.Exception(story(played), pytrace=False)


def target_of(request: Any, usual: str) -> str:
    """The target named to pytest, else the one the finding was made on."""
    from ..pytest_plugin import ASKED

    asked = request.config.stash.get(ASKED, None)
    return str(asked.target) if asked is not None and asked.target else usual


def result_of(played: Played, *, again: str = "", rounds: int = 1) -> RaceResult:
    """A run as the result of a race, for what reports read.

    Args:
        played: The run.
        again: The command that runs it again.
        rounds: How many runs were made.
    """
    judgement = played.judgement
    return RaceResult(
        race=RACE,
        scenario=RACE,
        variant="plain",
        agents=played.plan.shape.agents,
        verdict=played.verdict,
        expected="every rule holds, whatever the shape of the trouble",
        reason="; ".join(played.problems),
        findings=judgement.findings,
        rounds=rounds,
        duplicates=judgement.duplicates,
        double_contacts=judgement.double_contacts,
        late_hand_overs=judgement.late_hand_overs,
        again=again,
    )


def story(played: Played, *, again: str = "") -> str:
    """The finding in one sentence, the steps, and the operations that prove it."""
    if not played.findings:
        return f"{played.verdict}: {'; '.join(played.problems)}"
    stories = importlib.import_module("leaserace.reports.story")
    result = result_of(played, again=again)
    text: str = stories.story_text(stories.tell(result, played.findings[0], played.history()))
    sentence, _, rest = text.partition("\n\n")
    return "\n\n".join([sentence, "\n".join(f"  {line}" for line in tell(played)), rest])


__all__ = ["as_test", "check", "replay", "result_of", "story", "target_of"]
