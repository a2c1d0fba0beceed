"""report.html, read as text."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from leaserace.harness.history import History
from leaserace.harness.verdict import Finding, Verdict
from leaserace.reports.page import report_html
from leaserace.reports.pagedata import island
from leaserace.reports.picture import pictures
from tests.reports import hostile
from tests.reports.samples import (
    STALE,
    failing,
    outcome,
    passing,
    stale_result,
    stale_token,
    valid_result,
)
from tests.reports.samples_contention import contention

VOID = {"meta", "input", "br", "wbr", "link", "path", "use", "rect", "line", "polyline"}


class Reader(HTMLParser):
    """Collects tags, attributes and text, and checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text += data


def read(page: bytes) -> Reader:
    """The page, parsed."""
    reader = Reader()
    reader.feed(page.decode())
    assert reader.open == []
    return reader


def data_of(text: str) -> dict[str, Any]:
    """The data of an island."""
    value: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return value


def test_the_page_of_a_failing_gate_says_what_broke_and_how_to_run_it_again() -> None:
    """Also without a script."""
    text = read(report_html(failing(), pictures(stale_token()))).text
    for wanted in (
        "INVALID",
        "sales-01 sent to contact-0-1 with token 41 after support-01 was granted 42",
        "PAUSED at send.think",
        "leaserace run stale_token --variant send.think --agents 2 --seed 7",
        "the fencing check inside the send's transaction",
        "a cooldown would have hidden it",
        "was caught in 620 ms",
    ):
        assert wanted in text


def test_a_green_page_has_no_section_of_faults_and_says_the_rate() -> None:
    """0 in 300 is not never."""
    text = read(report_html(passing(), pictures(stale_token()))).text
    assert "What went wrong" not in text
    assert "the rate is below 0.99 %" in text


@pytest.mark.parametrize("made", [outcome(), failing()], ids=["nothing", "no history"])
def test_a_run_without_a_history_has_a_page(made: Any) -> None:
    """As after a crash of the run."""
    assert "leaserace" in read(report_html(made, {})).text


def test_the_same_run_gives_the_same_page() -> None:
    """Byte for byte."""
    one = report_html(failing(), pictures(stale_token()))
    assert one == report_html(failing(), pictures(stale_token()))


def test_the_page_names_no_address_outside_itself() -> None:
    """Nothing is loaded: links lead into the page, namespaces are not addresses."""
    reader = read(report_html(failing(), pictures(stale_token())))
    loads = [value for name, value in reader.attributes if name in {"src", "href", "xlink:href"}]
    assert loads
    assert all(value.startswith("#") for value in loads)
    assert "@import" not in report_html(failing(), pictures(stale_token())).decode()


def test_hostile_text_becomes_no_element_and_no_attribute() -> None:
    """Every text field is an attack; the page has the elements of ours only."""
    races = pictures(hostile.history())
    reader = read(report_html(hostile.run(), races))
    assert reader.tags.count("script") == 2
    assert "img" not in reader.tags
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert hostile.ATTACKS[0] in reader.text
    assert "\x1b" not in reader.text
    assert "\u202e" not in reader.text


def test_a_place_of_the_template_inside_a_text_stays_text() -> None:
    """Values are put in once and never looked at again."""
    text = read(report_html(hostile.run(), pictures(hostile.history()))).text
    assert "{{data}}" in text


def test_the_only_script_is_the_one_the_policy_names() -> None:
    """Its hash is checked by the browser; here that it is the script's own."""
    page = report_html(failing(), pictures(stale_token())).decode()
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", page)
    assert "default-src 'none'" in page


def test_the_island_has_every_operation_with_its_details() -> None:
    """Columns, one entry an operation."""
    data = data_of(island(pictures(stale_token()), [stale_result()]))
    (race,) = data["races"]
    assert {len(column) for column in race["ops"].values()} == {6}
    assert race["leases"][0][2] == 41
    assert race["findings"][0][4] == [0, 2, 4]
    assert [data["codes"][i] for i in race["ops"]["code"] if i >= 0] == ["contact_owned"]


def test_a_race_that_does_not_fit_is_named_and_a_failing_one_goes_first() -> None:
    """Nothing is cut without saying so."""
    history = History([*contention(500), *stale_token()])
    results = [valid_result(race="contention/3"), stale_result()]
    data = data_of(island(pictures(history), results, operations_max=100))
    assert [race["name"] for race in data["races"]] == [STALE]
    assert data["left"] == ["contention/3 (502 operations)"] or data["left"][0].startswith(
        "contention/3 ("
    )


def test_a_race_that_is_too_long_is_shown_around_its_finding() -> None:
    """With its true length beside it."""
    races = pictures(contention(3000))
    op = races["contention/3"].operations[2000]
    finding = Finding(rule="r", spec=("L3",), message="m", ops=(op.op,), t=op.invoked_ns)
    race = valid_result(race="contention/3", verdict=Verdict.INVALID, findings=(finding,))
    (data,) = data_of(island(races, [race], operations_max=500))["races"]
    assert len(data["ops"]["begin"]) == 500
    assert data["cut"] == len(races["contention/3"].operations)
    assert data["findings"][0][4] == [250]


@pytest.mark.slow
def test_a_hundred_thousand_operations_stay_below_five_megabytes() -> None:
    """With room to spare."""
    races = pictures(contention(100_000))
    page = report_html(outcome(valid_result(race="contention/3")), races)
    assert len(page) < 5_000_000
    assert data_of(re.search(r'id="data">([^<]+)<', page.decode())[1])["left"] == []  # type: ignore[index]
