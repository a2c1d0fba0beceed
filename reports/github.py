"""Workflow commands that GitHub Actions shows as annotations beside the code."""

from __future__ import annotations

from collections.abc import Iterator

from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import Verdict

from .rows import headline
from .text import count, visible

ANNOTATIONS_MAX = 10
"""GitHub drops what goes beyond ten of a kind in a step, without a word."""


def github_annotations(outcome: RunOutcome, *, file: str = "") -> str:
    """One line an annotation: an error a finding, a warning for what could not be judged.

    Args:
        outcome: The run.
        file: A file of the repository to pin them to, such as the target's, or "".
    """
    lines = list(_lines(outcome, file))
    if len(lines) > ANNOTATIONS_MAX:
        left = len(lines) - ANNOTATIONS_MAX + 1
        lines = lines[: ANNOTATIONS_MAX - 1]
        lines.append(_line("error", "leaserace", f"{count(left, 'more finding')}", file))
    notice = _line("notice", "leaserace", headline(outcome), file)
    return "".join(f"{line}\n" for line in [*lines, notice])


def _lines(outcome: RunOutcome, file: str) -> Iterator[str]:
    if outcome.canary is not None and not outcome.canary.caught:
        yield _line("error", "canary", f"{outcome.canary.twin} was not caught", file)
    for race in outcome.races:
        seen: set[str] = set()
        for finding in race.findings:
            if finding.rule not in seen:
                seen.add(finding.rule)
                title = f"{finding.rule} in {race.race}"
                yield _line("error", title, f"{finding.message}\n{race.again}", file)
        if race.verdict is Verdict.INVALID and not race.findings:
            yield _line("error", race.race, race.reason or "invalid", file)
        if race.verdict is Verdict.UNKNOWN:
            yield _line("warning", race.race, f"could not be judged: {race.reason}", file)


def _line(kind: str, title: str, message: str, file: str) -> str:
    where = f"file={_property(file)}," if file else ""
    return f"::{kind} {where}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    plain = visible(text, keep_lines=True).replace("\t", " ")
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
