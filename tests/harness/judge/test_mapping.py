"""The mapping file: strict, and clear about what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.judge.mapping_file import load_mapping, mapping_from
from leaserace.harness.judge.ours import our_mapping

from .logs import SAMPLES, TABLES, mapping


@pytest.mark.parametrize("name", ["webhook.toml", "agents.toml"])
def test_the_samples_mappings_are_read(name: str) -> None:
    assert load_mapping(SAMPLES / name).events


def test_our_own_mapping_needs_no_file() -> None:
    assert our_mapping().does("send")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"feilds": {}}, "unknown field `feilds`; did you mean 'fields'?"),
        ({"fields": {**TABLES["fields"], "tokn": "x"}}, "did you mean 'token'?"),
        ({"version": 7}, "version 7: this leaserace reads 1"),
        ({"format": "xml"}, "format: 'xml' is none of"),
        ({"time": {"field": "t", "format": "unixms"}}, "is no time format"),
        ({"time": {"field": "t", "zone": "Mars/Base"}}, "no time zone is called 'Mars/Base'"),
        ({"time": {"field": "t", "clock": "sun"}}, "time.clock: 'sun' is none of store, agent"),
        ({"time": {"field": "t", "uncertainty_s": float("nan")}}, "is no number of seconds"),
        ({"time": {"field": "t", "settle_s": -1.0}}, "time.settle_s: -1.0 is no number of seconds"),
        ({"events": {}}, "nothing in the log means anything"),
        ({"events": {"x": "sned.ok"}}, "'sned.ok' is nothing a line can mean"),
        ({"events": {"x": "send.fail:suppresed"}}, "did you mean 'suppressed'?"),
        ({"codes": {"X": "conttact_owned"}}, "did you mean 'contact_owned'?"),
        ({"kinds": {"X": "spam"}}, "kinds: 'spam' is none of"),
        ({"formats": {"expiry": "iso"}}, "formats: 'expiry' is none of"),
        ({"delimiter": ";;"}, "is not one character"),
        ({"fields": {"event": "e"}}, "fields.recipient: not given"),
        ({"fields": {"recipient": "to"}}, "fields.event: not given"),
        ({"settings": {"lease_s": "60"}}, "settings.lease_s"),
    ],
)
def test_a_mistake_is_named_with_its_key(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=r"mapping\.toml") as caught:
        mapping_from({**TABLES, **change}, "mapping.toml")

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_toml_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text("[time\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"mapping\.toml: not TOML"):
        load_mapping(path)


def test_a_missing_mapping_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no-such"):
        load_mapping(tmp_path / "no-such.toml")


def test_an_event_may_mean_several_things() -> None:
    told = mapping(events={"done": ["send.ok", "delivery"]}).actions()["done"]

    assert [action.f for action in told] == ["send", "delivery"]
