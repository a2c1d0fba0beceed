"""The layer matrix: what the articles say of the layers comes out of real runs."""

from __future__ import annotations

import csv
import io
import json

import pytest

from leaserace.harness.habits import HABITS
from leaserace.harness.layers.cell import rows_of
from leaserace.harness.layers.claims import BAD_KEYS, GOOD
from leaserace.harness.layers.matrix import Matrix, measured, to_csv, to_json
from leaserace.harness.layers.names import (
    ALL_ON,
    ALONE,
    LAYOUTS,
    NO_DRAFT,
    NONE_ON,
    THREE_ON,
    Layer,
)
from leaserace.harness.layers.parts import load_parts
from leaserace.harness.layers.table import table_text
from leaserace.reports.layer_charts import layers_image

SENDS = 36
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return measured(load_parts(), rows_of(), sends=SENDS, seed=1)


def rates(matrix: Matrix, layout: str, *, two: bool = False) -> dict[str, float]:
    return {
        row.name: matrix.cell(row.name, layout).per_thousand
        for row in matrix.rows
        if row.is_two is two
    }


@pytest.mark.parametrize("layout", [each.name for each in ALONE])
def test_no_layer_alone_is_enough(matrix: Matrix, layout: str) -> None:
    """spec: O1"""
    assert max(rates(matrix, layout).values()) > 0


@pytest.mark.parametrize("habit", BAD_KEYS)
def test_each_bad_key_doubles_mail_where_the_key_is_all_there_is(
    matrix: Matrix, habit: str
) -> None:
    """spec: K9"""
    assert matrix.cell(habit, Layer.KEY.value).duplicates > 0


def test_the_three_layers_together_let_nothing_through(matrix: Matrix) -> None:
    """One thing goes wrong at a time. spec: O1, O2, O3"""
    assert set(rates(matrix, THREE_ON.name).values()) == {0}
    assert set(rates(matrix, ALL_ON.name).values()) == {0}


def test_checkpoints_that_keep_no_draft_let_bad_keys_through(matrix: Matrix) -> None:
    """A retry composes anew, and so under another key. spec: O1, K9"""
    doubling = {name for name, rate in rates(matrix, NO_DRAFT.name).items() if rate}
    assert doubling == {
        "time-in-key",
        "uuid-per-call",
        "model-writes-key",
        "rewords-body",
        "one-key-for-many",
        "new-run-id",
    }


def test_a_well_behaved_agent_needs_the_key_alone(matrix: Matrix) -> None:
    """spec: O1, A3"""
    for layout in LAYOUTS:
        cell = matrix.cell("well-behaved", layout.name)
        assert (cell.duplicates == 0) is (Layer.KEY in layout.on), layout
    assert all(matrix.cell(name, ALL_ON.name).duplicates == 0 for name in GOOD)


def test_a_restart_under_a_new_run_id_needs_checkpoints(matrix: Matrix) -> None:
    """spec: O2"""
    assert matrix.cell("new-run-id", Layer.KEY.value).duplicates > 0
    assert matrix.cell("new-run-id", "no checkpoints").duplicates > 0
    assert matrix.cell("new-run-id-with-checkpoints", Layer.KEY.value).duplicates == 0
    assert matrix.cell("new-run-id", THREE_ON.name).duplicates == 0


def test_a_run_after_the_window_needs_the_sent_table(matrix: Matrix) -> None:
    """spec: O3"""
    habit = "daily-after-window"
    assert matrix.cell(habit, Layer.KEY.value).per_thousand == 1000
    assert matrix.cell(habit, Layer.CHECKPOINTS.value).per_thousand == 1000
    assert matrix.cell(habit, Layer.TABLE.value).duplicates == 0
    assert matrix.cell(habit, "no sent-table").duplicates > 0
    stopped = matrix.cell(habit, ALL_ON.name).stopped
    assert stopped == {Layer.TABLE: SENDS}


def test_two_troubles_at_once_pass_all_three_layers(matrix: Matrix) -> None:
    """What the three are not proof against is shown too. spec: O1, O3"""
    assert max(rates(matrix, THREE_ON.name, two=True).values()) > 0


def test_a_reply_to_somebody_skips_the_cooldown_and_so_it_is_no_guard(matrix: Matrix) -> None:
    """spec: C2, O1"""
    alone = matrix.cell("daily-after-window", Layer.COOLDOWN.value)
    assert alone.per_thousand == 500


def test_what_is_stopped_is_counted_by_the_layer_that_stopped_it(matrix: Matrix) -> None:
    """spec: O1, R3"""
    for layout in LAYOUTS:
        for row in matrix.rows:
            assert set(matrix.cell(row.name, layout.name).stopped) <= layout.on
    well = matrix.cell("well-behaved", ALL_ON.name).stopped
    assert set(well) == {Layer.KEY, Layer.TABLE, Layer.CHECKPOINTS}
    assert Layer.COOLDOWN in matrix.cell("uuid-per-call", Layer.COOLDOWN.value).stopped


def test_every_habit_has_a_row_and_every_claim_holds(matrix: Matrix) -> None:
    assert {row.habit for row in matrix.rows} == set(HABITS)
    assert len(matrix.cells) == len(matrix.rows) * len(LAYOUTS)
    assert [claim.text for claim in matrix.claims if claim.holds is not True] == []


def test_without_layers_and_without_trouble_a_message_goes_out_once(matrix: Matrix) -> None:
    """Two runs a day apart: the second is the whole trouble, and nothing else doubles mail."""
    cell = matrix.cell("daily-after-window", NONE_ON.name)
    assert cell.deliveries == 2 * cell.sends


def test_the_same_seed_gives_the_same_bytes() -> None:
    rows = rows_of([HABITS["uuid-per-call"], HABITS["new-run-id"]])
    one, two = (measured(load_parts(), rows, sends=24, seed=3) for _ in range(2))
    assert to_json(one) == to_json(two)
    assert to_csv(one) == to_csv(two)
    assert layers_image(one) == layers_image(two)


def test_another_seed_draws_otherwise_and_claims_hold_as_well() -> None:
    names = ("well-behaved", *BAD_KEYS, "new-run-id-with-checkpoints")
    rows = rows_of([HABITS[name] for name in names])
    found = measured(load_parts(), rows, sends=SENDS, seed=8)
    assert all(claim.holds for claim in found.claims)


def test_files_carry_every_cell(matrix: Matrix) -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(matrix))))
    assert len(lines) == len(matrix.cells)
    assert {line["key_on"] for line in lines} == {"0", "1"}
    data = json.loads(to_json(matrix))
    assert len(data["cells"]) == len(matrix.cells)
    by_trouble = [sum(cell["by_trouble"].values()) for cell in data["cells"]]
    assert by_trouble == [cell["duplicates"] for cell in data["cells"]]
    assert layers_image(matrix).startswith(PNG)


def test_the_table_shows_each_habit_three_times_and_no_line_is_wide(matrix: Matrix) -> None:
    text = table_text(matrix, width=100)
    for name in HABITS:
        assert sum(line.split(" ")[0] == name for line in text.splitlines()) >= 3
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("\nholds") == len(matrix.claims)


def test_a_claim_that_lacks_its_habits_is_not_judged() -> None:
    found = measured(load_parts(), rows_of([HABITS["old-token"]]), sends=20, seed=1)
    assert [claim.holds for claim in found.claims] == [None, None, True, None, None, None]
    assert "not judged" in table_text(found)
