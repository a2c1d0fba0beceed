"""Drafting a mapping from a log."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.judge.guess import code_meaning, meaning
from leaserace.harness.judge.mapping_file import load_mapping
from leaserace.harness.judge.run import judge_log
from leaserace.harness.judge.suggest import looks_like_ours, suggest
from leaserace.harness.verdict import Verdict

from .logs import GOOD, SAMPLES, T0_MS, rules, write


def drafted(log: Path, tmp_path: Path) -> Path:
    """The draft as a file."""
    path = tmp_path / "mapping.toml"
    path.write_text(suggest(log), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["webhook.jsonl", "agents.jsonl"])
def test_a_draft_is_a_mapping_that_judges_its_log(name: str, tmp_path: Path) -> None:
    mapping = load_mapping(drafted(SAMPLES / name, tmp_path))

    answer = judge_log(SAMPLES / name, mapping, jobs=1)

    assert answer.outcome.verdict is Verdict.INVALID


def test_the_draft_of_the_agents_log_finds_what_the_hand_written_mapping_finds(
    tmp_path: Path,
) -> None:
    mapping = load_mapping(drafted(SAMPLES / "agents.jsonl", tmp_path))

    assert mapping.time.clock == "agent"
    assert mapping.paths("operation") == ("call",)
    assert set(rules(judge_log(SAMPLES / "agents.jsonl", mapping, jobs=1))) == {
        "tokens.stale_never_sends"
    }


def test_our_own_log_needs_no_mapping() -> None:
    assert looks_like_ours(SAMPLES / "ours.jsonl")
    assert not looks_like_ours(SAMPLES / "webhook.jsonl")
    assert "needs no mapping" in suggest(SAMPLES / "ours.jsonl")


def test_a_csv_with_semicolons_and_times_without_a_zone_is_drafted(tmp_path: Path) -> None:
    path = tmp_path / "mails.csv"
    path.write_text(
        "Date;Recipient;Agent;Action\n"
        "2026-11-30 12:00:00;jane@acme.com;sales;Mail delivered\n"
        "2026-11-30 12:00:05;omar@acme.com;support;Mail delivered\n",
        encoding="utf-8",
    )

    table = tomllib.loads(suggest(path))

    assert table["format"] == "csv"
    assert table["delimiter"] == ";"
    assert table["time"] == {"field": "Date", "format": "iso", "zone": "UTC", "clock": "store"}
    assert table["fields"]["recipient"] == "Recipient"
    assert table["events"] == {"Mail delivered": "delivery"}
    load_mapping(drafted(path, tmp_path))


def test_a_list_of_sent_mails_without_events_is_taken_as_deliveries(tmp_path: Path) -> None:
    path = write(
        tmp_path / "sent.jsonl",
        *({"sent_at": T0_MS + n, "address": f"p{n}@x.com", "bytes": 5} for n in range(20)),
    )

    table = tomllib.loads(suggest(path))

    assert table["events"] == {"*": "delivery"}
    assert table["time"]["format"] == "unix_ms"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"to": "a@b.com", "x": 1}], "no field looks like a time"),
        ([{"t": T0_MS, "x": "y"}], "no field looks like an address"),
        (["rubbish"], "neither JSON Lines nor CSV"),
    ],
    ids=["no time", "no address", "rubbish"],
)
def test_what_can_not_be_drafted_is_one_clear_line(
    rows: list[dict[str, object] | str | bytes], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        suggest(write(tmp_path / "log.jsonl", *rows))

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_log_full_of_signs_still_gives_a_file_that_can_be_read(tmp_path: Path) -> None:
    evil = 'x"\n]\n[time]\nfield = "\x7f\u2028\ud83d\ude00 # \\'
    rows = [each | {evil: evil, "event": evil} for each in GOOD]
    log = write(tmp_path / "log.jsonl", *rows)

    table = tomllib.loads(suggest(log))

    assert table["time"]["field"] == "t"
    assert list(table["events"]) == [evil.encode("utf-16", "surrogatepass").decode("utf-16"), "*"]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("lease.granted", "acquire.ok"),
        ("LOCK_DENIED", "acquire.fail"),
        ("release.start", "release.begin"),
        ("heartbeat", "renew.ok"),
        ("EmailSent", "send.ok"),
        ("send_attempt", "send.begin"),
        ("mail timed out", "send.unknown"),
        ("group_unsubscribe", "suppress.ok"),
        ("group_resubscribe", "unsuppress.ok"),
        ("delivered", "delivery"),
        ("open", "ignore"),
        ("gc.pause", ""),
    ],
)
def test_an_events_name_tells_what_it_means(event: str, told: str) -> None:
    assert meaning(event, has_codes=True) == told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("LEASE_HELD", "contact_owned"),
        ("STALE_TOKEN", "stale_fencing_token"),
        ("too_soon", "cooldown_active"),
        ("200", "ok"),
        ("E1234", ""),
    ],
)
def test_a_codes_name_tells_what_it_means(code: str, told: str) -> None:
    assert code_meaning(code) == told
