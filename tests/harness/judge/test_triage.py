"""Contacts that are called plain at a glance: no rule finds fault with any of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaserace.harness.judge import run
from leaserace.harness.judge.mapping import Mapping
from leaserace.harness.judge.run import Answer, judge_log

from .logs import GOOD, T0_MS, mapping, row, rules, write

CONTACTS = 4


def random_log(seed: int, mistakes: float, form: str = "plain") -> list[dict[str, Any]]:
    """A log of a few contacts; with `mistakes` above 0 some lines are dropped, moved or changed.

    Args:
        seed: Of all draws.
        mistakes: How likely each is.
        form: ``audit`` tells each step of a send, and its commit order; ``calls`` and ``codes`` tell
            begin and end of every call.
    """
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for person in range(CONTACTS):
        at = rng.randrange(0, 5_000)
        token = rng.randrange(1, 4)
        for _ in range(rng.randrange(1, 4)):
            rows += _turn(rng, f"p{person}@x.com", at, token, f"{seed}-{person}-{token}-{at}")
            at += rng.choice((2_000, 30_000, 70_000, 100_000))
            token += rng.choice((1, 1, 2))
    if form in {"audit", "calls", "codes"}:
        parts = _steps if form == "audit" else _calls
        rows = [part for each in rows for part in parts(each)]
    rows.sort(key=lambda each: each["t"])
    for place, each in enumerate(rows, start=1):
        each["n"] = place
    for each in rows:
        if rng.random() < mistakes:
            _spoil(rng, each)
    if rng.random() < mistakes:
        rng.shuffle(rows)
    if rng.random() < mistakes:
        rows.append(dict(rng.choice(rows)))
    rows = [each for each in rows if rng.random() >= mistakes / 4]
    return [*rows, row(900_000, "granted", "z", "end@x.com", token=1, n=len(rows) + 9)]


def _steps(each: dict[str, Any]) -> list[dict[str, Any]]:
    """A send, step by step; its delivery is its last one."""
    if each["e"] == "arrived":
        return []
    if each["e"] != "sent":
        return [each]
    return [
        each | {"e": name, "t": each["t"] + at}
        for at, name in enumerate(("asked", "going", "done"))
    ]


def _calls(each: dict[str, Any]) -> list[dict[str, Any]]:
    """A call and its answer; one that is refused now and then."""
    if each["e"] == "arrived":
        return [each]
    kept: dict[str, Any] = {name: each[name] for name in ("who", "to", "key") if name in each}
    if each["e"] != "granted" and "token" in each:
        kept["token"] = each["token"]
    took = 30 + each["t"] % 50
    begin = kept | {"t": each["t"], "e": f"asked {each['e']}", "op": f"op-{each['t']}"}
    if each["t"] % 3 == 0:
        del begin["op"]
    return [begin, each | {"t": each["t"] + took, "why": "ok", "op": begin.get("op")}]


def _turn(rng: random.Random, to: str, at: int, token: int, name: str) -> list[dict[str, Any]]:
    who = rng.choice(("sales-01", "support-01"))
    rows = [row(at, "granted", who, to, token=token)]
    if rng.random() < 0.3:
        rows.append(row(at + 200, "renewed", who, to, token=token))
    if rng.random() < 0.8:
        rows.append(row(at + 500, "sent", who, to, token=token, key=name, mid=f"<{name}@x>"))
        rows.append(row(at + 700, "arrived", who, to, mid=f"<{name}@x>"))
    if rng.random() < 0.7:
        rows.append(row(at + 1_000, "released", who, to, token=token))
    return rows


def _spoil(rng: random.Random, each: dict[str, Any]) -> None:
    kind = rng.randrange(7)
    if kind == 0:
        each["t"] += rng.choice((-50_000, -1_000, 1_000, 65_000))
    elif kind == 1 and "token" in each:
        each["token"] += rng.choice((-1, 1))
    elif kind == 2:
        each["who"] = rng.choice(("sales-01", "support-01", "digest-01"))
    elif kind == 3 and "key" in each:
        each["key"] = "the-same"
    elif kind == 4:
        each["e"] = rng.choice(("optout", "denied", "replayed", "sent", "arrived", "renewed"))
        each["why"] = rng.choice(("ok", "contact_owned"))
    elif kind == 5:
        each["op"] = rng.choice(("another", None))
    elif "until" in each:
        each["until"] += rng.choice((-30_000, 30_000))


CALLS = {
    "asked granted": "acquire.begin",
    "asked renewed": "renew.begin",
    "asked released": "release.begin",
    "asked sent": "send.begin",
}
MAPPINGS: dict[str, Mapping] = {
    "plain": mapping(),
    "cooldown": mapping(settings={"cooldown_s": 60.0}),
    "intents": mapping(intent={"fields": ["mid"]}),
    "seconds": mapping(time={"format": "unix_ms", "uncertainty_s": 0.0, "settle_s": 1.0}),
    "no deliveries": mapping(events={"arrived": "ignore"}),
    "deliveries only": mapping(events={"sent": "ignore", "replayed": "ignore"}),
    "no token": mapping(fields={"token": ""}),
    "calls": mapping(fields={"operation": "op"}, events=CALLS),
    "codes": mapping(
        fields={"operation": "op", "code": "why"},
        events=CALLS | {"granted": "acquire.end", "sent": "send.end", "released": "release.end"},
    ),
    "audit": mapping(
        fields={"seq": "n"},
        events={"asked": "send.begin", "going": "dispatch", "done": ["send.ok", "delivery"]},
    ),
}


def both_ways(path: Path, told: Mapping) -> tuple[Answer, Answer]:
    """With every contact given to the rules, and with triage before them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "WHOLE_ROWS", 10**9)
        full = judge_log(path, told, jobs=1)
        patch.setattr(run, "WHOLE_ROWS", 0)
        quick = judge_log(path, told, jobs=1)
    return full, quick


@settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    seed=st.integers(0, 10**6),
    mistakes=st.sampled_from((0.0, 0.02, 0.1, 0.3)),
    name=st.sampled_from(sorted(MAPPINGS)),
)
def test_triage_never_hides_a_finding(
    seed: int, mistakes: float, name: str, tmp_path: Path
) -> None:
    rows = random_log(seed, mistakes, name)
    path = write(tmp_path / "log.jsonl", *rows)

    full, quick = both_ways(path, MAPPINGS[name])

    assert rules(quick) == rules(full)
    first, second = full.outcome.races[0], quick.outcome.races[0]
    assert [finding.message for finding in second.findings] == [
        finding.message for finding in first.findings
    ]
    counts = ("duplicates", "double_contacts", "late_hand_overs")
    assert [getattr(second, each) for each in counts] == [getattr(first, each) for each in counts]


def test_a_renewal_that_ends_a_lease_earlier_is_for_the_rules(tmp_path: Path) -> None:
    """spec: L6."""
    path = write(
        tmp_path / "log.jsonl",
        row(0, "granted", "a", token=1, until=T0_MS + 90_000),
        row(1_000, "renewed", "a", token=1),
        row(72_000, "granted", "b", token=2),
    )

    full, quick = both_ways(path, mapping())

    assert rules(quick) == rules(full) == ["leases.one_live"]


def test_plain_contacts_count_as_judged(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", *GOOD)

    full, quick = both_ways(path, mapping())

    assert "2 contacts (2 plainly in order)" in quick.outcome.races[0].observed
    judged = {race.race: race.observed for race in quick.outcome.races}
    assert judged["sends.once"] == "judged 2 times"
    assert {race.race: race.verdict for race in quick.outcome.races} == {
        race.race: race.verdict for race in full.outcome.races
    }


@pytest.mark.parametrize("name", ["plain", "audit", "calls", "codes"])
def test_most_contacts_of_a_log_without_mistakes_are_plain(name: str, tmp_path: Path) -> None:
    """Else triage would be for nothing."""
    plain = contacts = 0
    for seed in range(30):
        rows = random_log(seed, 0.0, name)
        path = write(tmp_path / "log.jsonl", *rows)
        observed = both_ways(path, MAPPINGS[name])[1].outcome.races[0].observed
        numbers = [int(word.strip("(")) for word in observed.split() if word.strip("(").isdigit()]
        contacts, plain = contacts + numbers[0] - 1, plain + numbers[1]  # but the log's end

    assert plain > 0.8 * contacts
