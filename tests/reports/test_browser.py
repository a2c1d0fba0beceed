"""report.html in a real headless Chromium; left out where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaserace.harness.history import History
from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import Finding, Verdict
from leaserace.reports.page import report_html
from leaserace.reports.picture import pictures
from tests.reports import hostile
from tests.reports.samples import STALE, failing, outcome, stale_token, valid_result
from tests.reports.samples_contention import contention
from tests.reports.test_agent import MISSING, RETRIED, judged

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Opened:
    """A page, with all it said and asked for."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.page = browser.new_context(**context).new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]")

    def text(self, selector: str) -> str:
        """The text of an element."""
        return str(self.page.locator(selector).text_content())


def opened(
    browser: Any, folder: Path, made: RunOutcome, history: History, **context: Any
) -> Opened:
    """The page of a run, open."""
    path = folder / "report.html"
    path.write_bytes(report_html(made, pictures(history)))
    return Opened(browser, path, **context)


@pytest.fixture
def stale(browser: Any, tmp_path: Path) -> Opened:
    """The page of the stale send."""
    return opened(browser, tmp_path, failing(), stale_token())


def test_the_page_is_silent_and_asks_for_nothing(stale: Opened) -> None:
    """No console message, no request but the file itself."""
    assert stale.said == []
    assert len(stale.asked) == 1


def test_it_opens_at_the_first_finding(stale: Opened) -> None:
    """What a reader came for is what they see."""
    assert stale.text("#tl-detail h3") == "sales-01: send 41 → sent <a1@acme.example>"
    assert "tokens.stale_never_sends" in stale.text("#tl-detail")
    assert "finding 1 of 1" in stale.text("#tl-status")


def test_the_keyboard_walks_through_the_operations(stale: Opened) -> None:
    """Arrows, home and end; each step is read out in a live region."""
    page = stale.page
    page.locator("#tl-canvas").focus()
    seen = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowUp", "End"):
        page.keyboard.press(key)
        seen.append(stale.text("#tl-detail h3"))
    assert seen == [
        "sales-01: acquire 41 → granted token 41",
        "support-01: acquire → refused: contact_owned",
        "support-01: acquire 42 → granted token 42",
        "sales-01: send 41 → sent <a1@acme.example>",
        "support-01: release 42 → released",
    ]
    assert page.get_attribute("#tl-detail", "aria-live") == "polite"
    page.keyboard.press("f")
    assert stale.text("#tl-detail h3").startswith("sales-01: send 41")


def test_filters_count_what_they_leave(stale: Opened) -> None:
    """By answer, by agent, by contact."""
    page = stale.page
    page.select_option("#tl-code", "code:contact_owned")
    assert stale.text("#tl-status").startswith("1 of 6 operations")
    page.select_option("#tl-code", "")
    page.locator("#tl-agents input").first.uncheck()
    assert stale.text("#tl-status").startswith("4 of 6 operations")
    page.fill("#tl-contact", "contact-0-1")
    page.click("#tl-rows summary")
    page.wait_for_selector("#tl-body tr")
    assert page.locator("#tl-body tr").count() == 4
    page.click("#tl-finding")
    assert stale.text("#tl-status").startswith("6 operations")


def test_hovering_an_operation_tells_it(stale: Opened) -> None:
    """The chosen one stands in the middle of its lane's lower half."""
    x, y = stale.page.evaluate(
        "() => { const c = document.getElementById('tl-canvas'); c.scrollIntoView({behavior: 'instant', block: 'center'});"
        " const b = c.getBoundingClientRect(); return [b.left, b.top]; }"
    )
    width = stale.page.evaluate("document.getElementById('tl-canvas').clientWidth")
    for step in range(120):
        stale.page.mouse.move(x + 130 + step * (width - 140) / 120, y + 70)
        if "send 41" in stale.text("#tip"):
            break
    assert "sent <a1@acme.example>" in stale.text("#tip")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, tmp_path: Path, scheme: str) -> None:
    """At least 4.5 to 1 for the words of the page, light and dark."""
    page = opened(browser, tmp_path, failing(), stale_token(), color_scheme=scheme).page
    ratios = page.evaluate(CONTRAST)
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue('--' + name).trim();
  const light = (hex) => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
      .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const found = {};
  for (const ground of ['bg', 'card', 'lane'])
    for (const ink of ['ink', 'muted', 'valid', 'invalid', 'unknown', 'quiet', 'accent'])
      found[ink + ' on ' + ground] = ratio(value(ink), value(ground));
  for (let i = 0; i < 8; i++) found['on a' + i] = ratio(value('on'), value('a' + i));
  return found;
}"""


def test_a_phone_shows_all_of_it_without_moving_sideways(browser: Any, tmp_path: Path) -> None:
    """390 pixels wide."""
    phone = {"viewport": {"width": 390, "height": 844}}
    page = opened(browser, tmp_path, failing(), stale_token(), **phone).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_tells_why_below_what_the_agent_did(browser: Any, tmp_path: Path) -> None:
    """And not beside it, where neither has room."""
    phone = {"viewport": {"width": 420, "height": 844}}
    page = opened(browser, tmp_path, judged(RETRIED, MISSING), stale_token(), **phone).page
    cell = page.locator("#agent td[data-label='what it did'] > div").first
    whole, why = cell.bounding_box(), cell.locator("p").bounding_box()
    label = page.locator("#agent td").first.bounding_box()
    assert why["x"] == whole["x"]
    assert why["y"] > whole["y"]
    assert whole["width"] > 0.55 * label["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_an_answer_of_the_agent_leads_to_its_race(browser: Any, tmp_path: Path) -> None:
    """The timeline shows the race that the link names."""
    answer = replace(RETRIED, race=STALE)
    made = replace(failing(), agent=judged(answer).agent)
    page = opened(browser, tmp_path, made, stale_token()).page
    page.click("#agent a[data-race]")
    assert page.locator("#tl-race option:checked").text_content().startswith(STALE)
    assert page.url.endswith("#timeline")


def test_print_leaves_out_the_controls(stale: Opened) -> None:
    """And keeps the timeline."""
    stale.page.emulate_media(media="print")
    assert not stale.page.locator(".controls").first.is_visible()
    assert stale.page.locator("#tl-canvas").is_visible()


def test_every_control_has_a_name(stale: Opened) -> None:
    """As a screen reader would say it."""
    nameless = stale.page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, canvas:not([aria-hidden])')]
        .filter((e) => !(e.ariaLabel || e.textContent.trim() || (e.labels && e.labels.length)))
        .map((e) => e.outerHTML)"""
    )
    assert nameless == []


def test_a_hostile_history_runs_nothing(browser: Any, tmp_path: Path) -> None:
    """Script elements, handlers and addresses in every text field stay text."""
    page = opened(browser, tmp_path, hostile.run(), hostile.history())
    page.page.locator("#tl-canvas").focus()
    for key in ("Home", *["ArrowRight"] * 7, "f"):
        page.page.keyboard.press(key)
    page.page.click("#tl-rows summary")
    page.page.select_option("#tl-code", "refused")
    page.page.mouse.move(600, 400)
    assert page.page.evaluate("window.pwned") is None
    assert page.said == []
    assert len(page.asked) == 1


@pytest.mark.slow
def test_a_hundred_thousand_operations_are_usable_within_two_seconds(
    browser: Any, tmp_path: Path
) -> None:
    """From opening to the first picture at the finding; the page's own clock is read."""
    history = contention(100_000)
    races = pictures(history)
    op = races["contention/3"].operations[50_000]
    finding = Finding(rule="r", spec=("L3",), message="m", ops=(op.op,), t=op.invoked_ns)
    race = valid_result(race="contention/3", verdict=Verdict.INVALID, findings=(finding,))
    page = opened(browser, tmp_path, outcome(race), history)
    assert int(page.page.get_attribute("html", "data-ready")) < 2_000
    assert "operations" in page.text("#tl-status")
    assert page.said == []
