"""A history as frames."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from leaserace.harness.contract import Code, UsageError
from leaserace.harness.history import History
from leaserace.reports.frames import COLUMNS, export_csv, export_parquet, frames, frames_of
from leaserace.reports.picture import pictures
from tests.reports.samples import Log, sent, stale_token
from tests.reports.samples_contention import contention


@pytest.mark.parametrize("history", [stale_token(), History()], ids=["run", "empty"])
def test_every_frame_has_its_documented_columns_and_types(history: History) -> None:
    """Also where nothing happened."""
    for name, frame in frames(history).items():
        assert {column: str(kind) for column, kind in frame.dtypes.items()} == {
            column: kind for column, (kind, _) in COLUMNS[name].items()
        }


def test_leases_end_by_release_or_by_the_stores_expiry() -> None:
    """spec: L5, L7; the length is the store's, the place on the axis the history's."""
    leases = frames(stale_token()).leases
    assert list(leases["token"]) == [41, 42]
    assert list(leases["ended_by"]) == ["expired", "released"]
    assert list(leases["held_ms"]) == [300.0, 51.0]
    assert list(leases["waited_ms"]) == [1.0, 291.5]


def test_a_second_grant_while_the_first_lives_is_marked() -> None:
    """spec: L3; both bars stay whole, so that the overlap is seen."""
    log = Log("r")
    log.acquire("a", 0, 1, 1, lease_ms=100)
    log.acquire("b", 50, 51, 2, lease_ms=100)
    log.mark(300, "race.end")
    leases = frames(log.history()).leases
    assert list(leases["overlaps"]) == [True, False]
    assert list(leases["held_ms"]) == [100.0, 100.0]


def test_a_lease_freed_by_somebody_else_says_so() -> None:
    """spec: L7."""
    log = Log("r")
    log.acquire("a", 0, 1, 1)
    log.op("b", "release", 10, 11, {"answer": "Released", "key": "k", "token": 1}, token=1)
    assert list(frames(log.history()).leases["ended_by"]) == ["freed by another agent"]


def test_a_renewal_moves_the_end() -> None:
    """spec: L6."""
    log = Log("r")
    log.acquire("a", 0, 1, 1, lease_ms=100)
    renewed = {
        "answer": "Lease",
        "key": "k",
        "owner": "a",
        "token": 1,
        "acquired_at_ms": 1_800_000_000_000,
        "granted_at_ms": 1_800_000_000_080,
        "expires_at_ms": 1_800_000_000_180,
    }
    log.op("a", "renew", 80, 81, renewed, token=1)
    log.mark(500, "race.end")
    leases = frames(log.history()).leases
    assert list(leases["renewals"]) == [1]
    assert leases["held_ms"][0] == pytest.approx(180, abs=1.1)


def test_repeated_refusals_are_counted_until_something_succeeds() -> None:
    """spec: R2."""
    log = Log("r")
    for at_ms in (0, 10, 20):
        log.op("a", "acquire", at_ms, at_ms + 1, Code.CONTACT_OWNED)
    log.acquire("a", 30, 31, 2)
    log.op("a", "acquire", 40, 41, Code.CONTACT_OWNED)
    assert list(frames(log.history()).refusals["repeat"]) == [1, 2, 3, 1]


def test_a_second_arrival_of_an_intent_is_a_duplicate() -> None:
    """spec: K2."""
    log = Log("r")
    log.send("a", 0, 5, 1, "i", sent("<m>"))
    log.delivery(2, "i", "<m>")
    log.delivery(3, "i", "<m2>")
    made = frames(log.history())
    assert list(made.deliveries["duplicate"]) == [False, True]
    assert list(made.sends["arrived"]) == [2]


def test_numbers_that_fit_no_column_are_missing() -> None:
    """A target may answer anything."""
    log = Log("r")
    log.op("a", "acquire", 0, 1, {"answer": "Lease", "token": 2**70})
    log.audit(0, "a", "acquire", "granted", token="forty-one")
    made = frames(log.history())
    assert pd.isna(made.operations["token"][0])
    assert pd.isna(made.decisions["token"][0])


def test_times_beyond_all_measure_break_nothing() -> None:
    """A broken history, or an answer that tells the store's time in another unit."""
    log = Log("r")
    odd = {"answer": "Lease", "token": 1, "granted_at_ms": 2**80, "expires_at_ms": -(2**70)}
    log.op("a", "acquire", 1e20, 2e20, odd)
    log.op("a", "release", 3e20, 4e20, {"answer": "Released", "token": 1}, token=1)

    assert len(frames(log.history()).leases) == 1


def test_csv_files_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    """And read back as they were."""
    for name in ("one", "two"):
        frames(stale_token()).to_csv(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    assert list(pd.read_csv(tmp_path / "one" / "leases.csv")["token"]) == [41, 42]


@pytest.mark.parametrize("history", [stale_token(), contention(500)], ids=["stale", "contention"])
def test_a_stream_and_a_picture_give_the_same_frames(history: History) -> None:
    """Whoever keeps the operations and whoever does not."""
    streamed, drawn = frames(history), frames_of(pictures(history).values())
    for (name, one), (_, two) in zip(streamed.items(), drawn.items(), strict=True):
        pd.testing.assert_frame_equal(one, two, obj=name)


def test_csv_written_in_chunks_is_the_csv_written_at_once(tmp_path: Path) -> None:
    """A history of any length is exported without being held."""
    frames(contention(500)).to_csv(tmp_path / "once")
    paths = export_csv(iter(contention(500)), tmp_path / "chunks", chunk_rows=7)
    assert len(paths) == 7
    for path in paths:
        assert path.read_bytes() == (tmp_path / "once" / path.name).read_bytes()


def test_parquet_without_its_extra_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'leaserace\[parquet\]'"):
        frames(stale_token()).to_parquet(tmp_path)


def test_parquet_read_back_holds_the_same_frames(tmp_path: Path) -> None:
    """Columns and types survive."""
    written = frames(stale_token())

    paths = written.to_parquet(tmp_path)

    assert len(paths) == 7
    for path, (name, frame) in zip(paths, written.items(), strict=True):
        pd.testing.assert_frame_equal(pd.read_parquet(path), frame, obj=name)


def test_parquet_written_in_row_groups_holds_the_same_frames(tmp_path: Path) -> None:
    """A history of any length is exported without being held."""
    import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]

    whole = frames(contention(500))

    paths = export_parquet(iter(contention(500)), tmp_path, chunk_rows=50)

    for path, (name, frame) in zip(paths, whole.items(), strict=True):
        pd.testing.assert_frame_equal(pd.read_parquet(path), frame, obj=name)
    assert pyarrow.parquet.ParquetFile(paths[0]).num_row_groups > 3


def test_values_of_every_kind_are_written_as_pandas_writes_them(tmp_path: Path) -> None:
    """Missing numbers, quotes, line breaks, flags."""
    log = Log('r, "1"\n2')
    log.op("a", "acquire", 0, 1, {"answer": "Lease", "token": 2**70})
    log.op("b", "acquire", 2.5, None, None)
    log.send("a", 3, 5, 1, "i", sent("<m>"))
    log.delivery(4, "i", "<m>")
    frames(log.history()).to_csv(tmp_path / "once")
    for path in export_csv(iter(log.history()), tmp_path / "chunks"):
        assert path.read_bytes() == (tmp_path / "once" / path.name).read_bytes(), path.name
