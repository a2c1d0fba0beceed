"""Images: the timeline and the charts."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from leaserace.harness.history import History
from leaserace.harness.verdict import Finding
from leaserace.reports.charts import charts
from leaserace.reports.picture import Picture, pictures
from leaserace.reports.timeline import timeline_image
from leaserace.reports.view import OPERATIONS_MAX, view
from leaserace.reports.waits import to_a_person
from tests.reports.samples import STALE, Log, stale_finding, stale_token
from tests.reports.samples_contention import contention

SVG = "{http://www.w3.org/2000/svg}"


def stale() -> Picture:
    """The picture of the stale send."""
    return pictures(stale_token())[STALE]


def words(svg: bytes) -> str:
    """All text of an SVG image."""
    return " ".join(node.text or "" for node in ET.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_history_gives_the_same_bytes(form: str) -> None:
    """No date, no drawn ids."""
    one = timeline_image(stale(), [stale_finding()], form=form)  # type: ignore[arg-type]
    two = timeline_image(stale(), [stale_finding()], form=form)  # type: ignore[arg-type]
    assert one == two


def test_the_stale_send_shows_tokens_pause_refusal_and_the_rule() -> None:
    """All that a reader must see at once."""
    text = words(timeline_image(stale(), [stale_finding()]))
    for wanted in (
        "token 41",
        "token 42",
        "paused at send.think",
        "contact_owned",
        "send 41",
        "tokens.stale_never_sends",
        "sales-01 sent to contact-0-1 with token 41 after support-01 was granted 42",
        "receiving mailbox",
    ):
        assert wanted in text


def test_cooldown_suppression_skew_and_lost_replies_are_drawn() -> None:
    """The bands lie over the contact, the skew over its agent."""
    log = Log("r")
    settings = {"cooldown_s": 0.2}
    log.mark(0, "race.begin", settings=settings, agents=["sales-01"])
    log.fault("sales-01", "skew", 0, None, measured_s=30.0)
    log.send("sales-01", 1, 5, 1, "i", None)
    log.delivery(3, "i", "<m>", replied=False)
    log.op("sales-01", "suppress", 10, 12, {"answer": "Noted", "at_ms": 1}, address="a")
    log.op("sales-01", "lookup", 300, 301, {"answer": "Found", "state": "delivered"}, key="k")
    text = words(timeline_image(pictures(log.history())["r"]))
    for wanted in ("cooldown", "suppression", "clock 30.0 s ahead", "no reply", "reply lost"):
        assert wanted in text


def test_a_long_race_shows_what_surrounds_the_finding_and_says_so() -> None:
    """Nothing is cut without a word."""
    picture = pictures(contention(6000))["contention/3"]
    op = picture.operations[2500]
    finding = Finding(rule="r", spec=("L3",), message="m", ops=(op.op,), t=op.invoked_ns)
    shown = view(picture, [finding])
    assert len(shown.operations) == OPERATIONS_MAX
    assert op in shown.operations
    assert "operations of this race not shown" in words(timeline_image(picture, [finding]))


def test_hostile_text_is_drawn_as_text() -> None:
    """Neither markup nor a formula nor a control character."""
    log = Log("<script>$x^2$\x1b")
    log.op("<script>$x^2$\x1b", "acquire", 0, 1)
    svg = timeline_image(
        pictures(log.history())[log.race],
        [replace(stale_finding(), message="<script>$\\frac{}$\x00", contact="")],
    )
    assert b"<script" not in svg
    assert "<script>$\\frac{}$\\x00" in words(svg)


def test_an_empty_race_is_drawn_all_the_same() -> None:
    """A race whose agents died at once."""
    log = Log("r")
    log.mark(0, "race.begin")
    assert timeline_image(pictures(log.history())["r"]).startswith(b"<?xml")


def test_contention_has_four_charts_with_the_same_bytes_each_time() -> None:
    """Conflicts, waits, shares, and who blocks whom."""
    made = pictures(contention(2000))
    assert list(charts(made)) == ["conflicts", "waits", "shares", "blocks"]
    assert charts(made) == charts(made)


def test_a_history_without_conflicts_has_no_chart_of_them() -> None:
    """And an empty one has none at all."""
    assert charts(pictures(History())) == {}
    assert "blocks" not in charts(pictures(stale_token()))


def test_repeated_conflicts_are_named_for_a_person() -> None:
    """spec: R2."""
    sentences = to_a_person(pictures(contention(3000)), limit=3)
    assert "times in a row" in sentences[0]
    assert sentences[-1].startswith("and ")


@pytest.mark.parametrize(
    ("length_ms", "unit"),
    [(900, "milliseconds"), (45_000, "seconds"), (9_000_000, "minutes"), (200_000_000, "hours")],
)
def test_a_long_race_is_told_in_longer_units(length_ms: float, unit: str) -> None:
    """An audit log covers hours; nobody reads them in milliseconds."""
    log = Log("r")
    log.acquire("a", 0, 1, 1)
    log.op("a", "release", length_ms, length_ms + 1, {"answer": "Released", "token": 1}, token=1)

    (picture,) = pictures(log.history()).values()
    told = words(timeline_image(picture)).split()

    assert unit in told
    assert not [word for word in told if word.startswith("1e")]
