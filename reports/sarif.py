"""``results.sarif``: findings in SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import Finding, RaceResult, Verdict

from .text import visible

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RESULTS_MAX = 5_000
"""What code scanning takes in one run; the rest is counted in the last result."""
NOT_JUDGED = "not_judged"


def sarif_json(outcome: RunOutcome, *, file: str = "") -> bytes:
    """The findings as SARIF.

    Args:
        outcome: The run.
        file: File to pin results to; by default what the target's module would be called.
    """
    uri = file or _module_file(outcome.target)
    results = list(_results(outcome, uri))
    if len(results) > RESULTS_MAX:
        left = len(results) - RESULTS_MAX + 1
        results = results[: RESULTS_MAX - 1]
        results.append(_result(NOT_JUDGED, "warning", f"{left:,} more results", "rest", uri))
    rules = sorted({str(result["ruleId"]) for result in results})
    driver = {
        "name": "leaserace",
        "version": visible(outcome.versions.get("leaserace", "0")),
        "rules": [{"id": rule, "shortDescription": {"text": rule}} for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "results": results,
        "invocations": [
            {
                "executionSuccessful": outcome.verdict is not Verdict.UNKNOWN,
                "commandLine": visible(outcome.again),
            }
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=1) + b"\n"


def _results(outcome: RunOutcome, uri: str) -> Iterator[dict[str, Any]]:
    for race in outcome.races:
        for finding in race.findings:
            yield _finding(race, finding, uri)
        if race.verdict is Verdict.UNKNOWN:
            message = f"{race.race} could not be judged: {race.reason}"
            yield _result(NOT_JUDGED, "warning", message, race.race, uri)


def _finding(race: RaceResult, finding: Finding, uri: str) -> dict[str, Any]:
    result = _result(
        visible(finding.rule),
        "error",
        f"{finding.message} (spec: {', '.join(finding.spec)}). Run it again: {race.again}",
        f"{finding.rule}|{race.race}|{finding.contact}",
        uri,
    )
    result["properties"] = {
        "race": visible(race.race),
        "contact": visible(finding.contact),
        "operations": [visible(op) for op in finding.ops],
    }
    return result


def _result(rule: str, level: str, message: str, identity: str, uri: str) -> dict[str, Any]:
    """One result; its fingerprint stays the same from run to run."""
    digest = hashlib.sha256(f"{rule}|{identity}".encode("utf-8", "backslashreplace")).hexdigest()
    where = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": visible(message)},
        "locations": [{"physicalLocation": where}],
        "partialFingerprints": {"leaseraceFinding/v1": digest[:32]},
    }


def _module_file(target: str) -> str:
    """``ourpkg.mailbox:OurMailbox`` as ``ourpkg/mailbox.py``; a file's name stays."""
    module, colon, _ = target.partition(":")
    plain = visible(module or "target").replace(" ", "%20")
    return plain.replace(".", "/") + ".py" if colon else plain
