"""``report.html``: one file, no network; verdict, stories, races, timeline, charts, policy.

Every text of a history is escaped where it is put in, the data of the timeline is an island that the
script only reads as text, and the page's own policy allows no script but the one whose hash it names.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files as resources

from leaserace.harness.outcome import RunOutcome

from . import sections
from .agent_page import agent
from .charts import charts
from .duplicates import wrongs
from .markup import escape
from .pagedata import island
from .picture import Picture
from .rows import headline
from .waits import to_a_person

SCRIPTS = ("data.js", "view.js", "draw.js", "input.js", "page.js")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def report_html(outcome: RunOutcome, races: Mapping[str, Picture]) -> bytes:
    """The run as one HTML page.

    Args:
        outcome: The run.
        races: Race name to its picture.
    """
    body = "\n".join(filter(None, _body(outcome, races)))
    script = f"\n(() => {{\n'use strict';\n{''.join(map(_template, SCRIPTS))}}})();\n"
    digest = hashlib.sha256(script.encode()).digest()
    page = _fill(
        _template("page.html"),
        {
            "title": escape(f"{headline(outcome)} - {outcome.target}"),
            "style": _template("page.css").strip(),
            "script_hash": base64.b64encode(digest).decode(),
            "nav": sections.navigation(body),
            "body": body,
            "footer": sections.footer(outcome),
            "data": island(races, outcome.races),
            "script": script.strip("\n"),
        },
    )
    return page.encode()


def _body(outcome: RunOutcome, races: Mapping[str, Picture]) -> Iterable[str]:
    yield sections.verdict(outcome)
    yield agent(outcome)
    yield sections.stories(outcome, races)
    yield sections.wrong(outcome, wrongs(outcome.races, races))
    yield sections.table(outcome)
    yield _template("timeline.html").strip()
    yield sections.contention(outcome, charts(races), to_a_person(races))
    yield sections.particulars(outcome)


def _template(name: str) -> str:
    return (resources("leaserace.reports") / "templates" / name).read_text(encoding="utf-8")


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into their places, once: what a value holds is never looked at again."""
    return _PLACE.sub(lambda match: values[match[1]], template)
