"""A log's order as a schedule of the simulator."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaserace.harness.contract import UsageError
from leaserace.harness.judge.commands import judge
from leaserace.harness.judge.mapping_file import load_mapping
from leaserace.harness.judge.reconstruct import write_reconstructions
from leaserace.harness.judge.run import judge_log
from leaserace.harness.judge.words import Times
from leaserace.harness.simulation.commands import replay
from leaserace.harness.simulation.schedule import load

from .logs import GOOD, SAMPLES, judged, mapping, row, rules, write
from .test_triage import MAPPINGS, random_log

TWIN = "leaserace.reference_impl.broken.without_fencing_check:target"
STALE = (
    row(0, "granted", "a", token=1),
    row(61_000, "granted", "b", token=2),
    row(62_000, "sent", "a", token=1, key="k", mid="<m>"),
    *GOOD[-1:],
)


def reconstructed(folder: Path, *rows: Any, target: str = "reference", **changes: Any) -> list[str]:
    """Judge a log and rebuild its findings; what is said of them."""
    folder.mkdir(exist_ok=True)
    answer = judged(folder, *rows, **changes)
    return write_reconstructions(answer, mapping(**changes), folder, target=target)


def run_again(folder: Path, target: str = "reference", number: int = 1) -> Any:
    """Replay a schedule, from the shell's side."""
    path = folder / "reconstructed" / f"schedule_{number}.txt"
    return CliRunner().invoke(
        replay, [str(path), "--target", target], catch_exceptions=False, standalone_mode=False
    )


def test_the_twin_that_leaks_as_the_log_does_breaks_the_same_rule_in_the_same_order(
    tmp_path: Path,
) -> None:
    told = reconstructed(tmp_path, *STALE, target=TWIN)

    result = run_again(tmp_path, TWIN)

    assert result.return_value == 1
    assert "tokens.stale_never_sends" in result.output
    assert any(TWIN in line and "tokens.stale_never_sends" in line for line in told)


def test_the_reference_refuses_what_the_log_let_through_and_says_so(tmp_path: Path) -> None:
    told = reconstructed(tmp_path, *STALE)

    result = run_again(tmp_path)

    assert result.return_value == 0
    assert "  differs: send L3: ok in the log, stale_fencing_token here" in told


def test_the_command_writes_a_schedule_for_each_sample(tmp_path: Path) -> None:
    for name in ("ours", "webhook", "agents"):
        told = [] if name == "ours" else ["--mapping", str(SAMPLES / f"{name}.toml")]
        arguments = [str(SAMPLES / f"{name}.jsonl"), *told, "--reconstruct"]
        result = CliRunner().invoke(
            judge,
            [*arguments, "--report", str(tmp_path)],
            catch_exceptions=False,
            standalone_mode=False,
        )

        assert result.return_value == 1
        assert re.search(r"leaserace replay \S+schedule_1\.txt", result.output)
        assert run_again(tmp_path / "latest").return_value == 0


def test_a_target_that_is_none_is_said_before_anything_is_judged(tmp_path: Path) -> None:
    arguments = [str(tmp_path / "none.jsonl"), "--reconstruct", "--target", "nope"]

    with pytest.raises(UsageError, match="no target is called 'nope'"):
        CliRunner().invoke(judge, arguments, catch_exceptions=False, standalone_mode=False)


def test_a_call_that_others_overlap_stands_still_in_the_schedule_too(tmp_path: Path) -> None:
    """spec: S10."""
    events = {"asked": "send.begin", "arrived": "ignore"}
    told = reconstructed(
        tmp_path,
        row(0, "granted", "a", token=1),
        row(61_000, "granted", "b", token=2),
        row(62_000, "asked", "a", token=1, key="k"),
        row(62_400, "asked", "b", token=2, key="j"),
        row(62_500, "sent", "b", token=2, key="j", mid="<n>"),
        row(63_000, "sent", "a", token=1, key="k", mid="<m>"),
        *GOOD[-1:],
        target=TWIN,
        events=events,
    )

    result = run_again(tmp_path, TWIN)

    assert "tokens.stale_never_sends" in result.output, told
    lines = result.output.splitlines()
    begin = next(place for place, line in enumerate(lines) if "send s1 with token 1 …" in line)
    assert any("send s1 with token 2" in line for line in lines[begin:])


def test_a_log_without_leases_has_each_send_take_one(tmp_path: Path) -> None:
    folder = tmp_path
    path, told = SAMPLES / "webhook.jsonl", load_mapping(SAMPLES / "webhook.toml")
    lines = write_reconstructions(judge_log(path, told, jobs=1), told, folder)

    schedule = load(str(folder / "reconstructed" / "schedule_2.txt")).schedule

    assert re.fullmatch(r"prog\.ASL_0\.X+W*ASL_0", schedule.subject)
    assert any("each takes one here and gives it back" in line for line in lines)
    assert "  differs: send L6: ok in the log, cooldown_active here" in lines


def test_what_programs_can_not_say_is_named(tmp_path: Path) -> None:
    told = "\n".join(
        reconstructed(
            tmp_path,
            row(0, "granted", "a", token=1),
            row(1_000, "sent", "a", token=1, key="k1", mid="<m1>"),
            row(2_000, "sent", "a", token=1, key="k2", mid="<m2>"),
            row(4_000, "released", "a", token=1),
            row(5_000, "granted", "b", token=2),
            row(6_000, "released", "b", token=2),
            row(7_000, "granted", "b", token=3),
            row(8_000, "sent", "b", token=2, key="k2", mid="<m4>"),
            *GOOD[-1:],
            events={"arrived": "ignore"},
        )
    )

    assert "a message sent again by another agent: it is another message here" in told
    assert "calls under a lease that is neither the caller's last one nor the first of all" in told


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    seed=st.integers(0, 10**6),
    mistakes=st.sampled_from((0.1, 0.3)),
    name=st.sampled_from(("plain", "cooldown", "calls", "codes", "no token")),
)
def test_any_finding_becomes_a_schedule_that_can_be_replayed(
    seed: int, mistakes: float, name: str, tmp_path: Path
) -> None:
    """`write_reconstructions` replays each before it writes it."""
    path = write(tmp_path / "log.jsonl", *random_log(seed, mistakes, name))
    answer = judge_log(path, MAPPINGS[name], jobs=1)

    told = write_reconstructions(answer, MAPPINGS[name], tmp_path)

    contacts = {finding.contact for race in answer.outcome.races for finding in race.findings}
    written = [line for line in told if line.startswith("  leaserace replay")]
    assert len(written) == len(contacts)
    assert not [line for line in told if "no schedule" in line or "only in part" in line], told
    assert rules(answer) or not contacts


@given(
    gaps=st.lists(st.integers(0, 90_000), max_size=12),
    grants=st.sets(st.integers(0, 12)),
    lease_s=st.sampled_from((10.0, 30.0, 60.0, 300.0)),
)
def test_every_step_stands_on_the_right_side_of_every_lease(
    gaps: list[int], grants: set[int], lease_s: float
) -> None:
    """Leases of one length: what had ended before a step of the log has ended before it here."""
    times, at_ms = Times(lease_s, 0.0, "plain"), 0
    leases: list[tuple[int, float]] = []
    for place, gap in enumerate([0, *gaps]):
        at_ms += round(gap * lease_s / 60)
        here_s = times.reach(at_ms)
        for began_s, ends_ms in leases:
            assert (here_s >= began_s + 60) == (at_ms >= ends_ms) or times.torn
        if place in grants:
            times.granted(at_ms, None)
            leases.append((here_s, at_ms + lease_s * 1000))
    assert times.torn <= len(leases)
