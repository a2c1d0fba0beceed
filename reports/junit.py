"""``junit.xml``: a test case a race, for the test tab of any CI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leaserace.harness.outcome import CanaryResult, RunOutcome
from leaserace.harness.verdict import RaceResult, Verdict

from .picture import Picture
from .rows import canary_sentence
from .story import leading, stories_text
from .text import visible

if TYPE_CHECKING:
    from junitparser.xunit2 import TestCase, TestSuite

STORY_COLUMNS = 100


def junit_xml(outcome: RunOutcome, races: Mapping[str, Picture]) -> bytes:
    """The run as JUnit XML.

    A broken rule is a failure; what could not be judged is an error, never a pass; what did not
    apply or was not run is skipped, with its reason.

    Args:
        outcome: The run.
        races: Race name to its picture, for the stories.
    """
    from junitparser.xunit2 import JUnitXml, TestSuite

    suite: TestSuite = TestSuite(f"leaserace {outcome.command}")  # type: ignore[no-untyped-call]
    suite.timestamp = outcome.started_at
    for name, value in _properties(outcome):
        suite.add_property(name, value)
    if outcome.canary is not None:
        suite.add_testcase(_canary(outcome.canary))
    for race in outcome.races:
        suite.add_testcase(_case(race, races, outcome))
    _add_run_case(suite, outcome)
    xml: Any = JUnitXml("leaserace")
    xml.add_testsuite(suite)
    xml.update_statistics()
    suite.time = xml.time = round(outcome.elapsed_s, 3)
    text: bytes = xml.tostring()
    return b"<?xml version='1.0' encoding='utf-8'?>\n" + text + b"\n"


def _properties(outcome: RunOutcome) -> list[tuple[str, str]]:
    plain = {
        "target": outcome.target,
        "seed": outcome.seed,
        "agents": "..".join(map(str, outcome.agents)),
        "verdict": outcome.verdict,
        "duplicates": outcome.duplicates,
        "double_contacts": outcome.double_contacts,
        "again": outcome.again,
    }
    versions = {f"version.{name}": value for name, value in sorted(outcome.versions.items())}
    return [(visible(name), visible(value)) for name, value in (plain | versions).items()]


def _canary(canary: CanaryResult) -> TestCase:
    from junitparser import Failure
    from junitparser.xunit2 import TestCase

    case = TestCase(visible(canary.twin), "leaserace.canary", round(canary.seconds, 3))
    if not canary.caught:
        case.result = [_result(Failure, canary_sentence(canary), canary.rule)]
    return case


def _case(race: RaceResult, races: Mapping[str, Picture], outcome: RunOutcome) -> TestCase:
    from junitparser import Error, Skipped
    from junitparser.xunit2 import TestCase

    case = TestCase(visible(race.race), f"leaserace.{visible(race.scenario)}")
    for name in ("expected", "observed", "rounds", "duplicates", "double_contacts", "again"):
        case.add_property(name, visible(getattr(race, name)))
    case.add_property("seed", str(outcome.seed))
    if "seconds" in race.figures:
        case.time = round(race.figures["seconds"], 3)
    match race.verdict:
        case Verdict.INVALID:
            case.result = [_failure(race, races)]
            case.system_out = f"run it again: {visible(race.again)}"
        case Verdict.UNKNOWN:
            case.result = [_result(Error, f"unknown: {race.reason}", "unknown")]
        case Verdict.NOT_APPLICABLE | Verdict.NOT_RUN:
            case.result = [_result(Skipped, f"{race.verdict.value}: {race.reason}", race.verdict)]
    return case


def _failure(race: RaceResult, races: Mapping[str, Picture]) -> Any:
    from junitparser import Failure

    finding = leading(race)
    rule = finding.rule if finding is not None else "invalid"
    message = finding.message if finding is not None else race.reason or race.observed
    made = _result(Failure, message, rule)
    made.text = visible(stories_text(race, races, width=STORY_COLUMNS), keep_lines=True)
    return made


def _result(kind: Any, message: str, what: str) -> Any:
    return kind(visible(message), visible(what))


def _add_run_case(suite: TestSuite, outcome: RunOutcome) -> None:
    """A run that is no pass has a case that says so, even where no race does."""
    from junitparser import Error
    from junitparser.xunit2 import TestCase

    told = any(race.verdict in {Verdict.INVALID, Verdict.UNKNOWN} for race in outcome.races)
    if outcome.verdict in {Verdict.INVALID, Verdict.UNKNOWN} and not told:
        case = TestCase("verdict", "leaserace.run")
        why = "; ".join(outcome.notices) or canary_sentence(outcome.canary)
        case.result = [_result(Error, f"{outcome.verdict.value}: {why}", outcome.verdict)]
        suite.add_testcase(case)
