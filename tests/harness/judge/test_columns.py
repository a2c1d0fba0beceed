"""Lines taken column by column give the same rows and counts as lines taken one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaserace.harness.judge import lines
from leaserace.harness.judge.columns import Columns
from leaserace.harness.judge.mapping import Mapping
from leaserace.harness.judge.read import Reader

from .logs import T0_MS, mapping, write

VALUES: dict[str, list[Any]] = {
    "t": [T0_MS, T0_MS + 5, T0_MS + 1_000, str(T0_MS), "NaN", None, 5],
    "e": ["sent", "granted", "released", "opened", "arrived", None, 7],
    "who": ["sales-01", "support-01", None, 12, True],
    "to": ["a@x.com", "A@X.com", "nobody", "", ["a@x.com", "b@x.com"], None],
    "token": [1, 2, "3", 4.0, "x", None],
    "until": [T0_MS + 60_000, "", "x", None],
    "key": ["k1", "k2", "", None, 9],
    "mid": ["<m@x>", None],
    "why": ["contact_owned", "ok", "LOCKED", None, 4],
}
MAPPINGS: dict[str, Mapping] = {
    "plain": mapping(),
    "codes": mapping(fields={"code": "why"}, events={"granted": "acquire", "sent": "send.end"}),
    "intents": mapping(intent={"fields": ["mid"]}),
    "two parts": mapping(
        fields={"event": ["e", "why"]}, events={"sent/ok": "send.ok", "*": "ignore"}
    ),
    "deeper": mapping(fields={"agent": ["deep.who", "who"]}),
    "state": mapping(fields={"code": "why"}, state={"fields": ["deep"]}),
}

good_rows = st.fixed_dictionaries(
    {name: st.sampled_from(each[:2]) for name, each in VALUES.items()}
)
any_rows = st.fixed_dictionaries({name: st.sampled_from(each) for name, each in VALUES.items()})
deep = st.one_of(st.none(), st.fixed_dictionaries({"who": st.sampled_from(["x", "y"])}))


def read(path: Path, told: Mapping, *, quick: bool) -> tuple[list[Any], dict[str, Any]]:
    """All rows, and what was counted meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", 300)
        if not quick:
            patch.setattr(Columns, "rows", lambda *_: None)
        reader = Reader(path, told)
        rows = [list(row) for batch in reader.batches() for row in batch]
    return rows, {
        "seen": reader.seen,
        "problems": reader.problems,
        "left": reader.left,
        "absent": sorted(reader.absent),
        "strange": (reader.contacts.strange, reader.contacts.example),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.one_of(good_rows, good_rows, good_rows, any_rows), deep),
        min_size=1,
        max_size=25,
    ),
    name=st.sampled_from(sorted(MAPPINGS)),
)
def test_both_ways_give_the_same(rows: list[Any], name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", *(row | {"deep": more} for row, more in rows))

    quick = read(path, MAPPINGS[name], quick=True)

    assert quick == read(path, MAPPINGS[name], quick=False)


def test_good_lines_go_the_quick_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be for nothing."""
    taken: list[bool] = []
    rows_of = Columns.rows

    def noted(self: Columns, chunk: Any) -> Any:
        rows = rows_of(self, chunk)
        taken.append(rows is not None)
        return rows

    monkeypatch.setattr(Columns, "rows", noted)
    path = write(
        tmp_path / "log.jsonl",
        *({name: each[0] for name, each in VALUES.items()} for _ in range(9)),
    )

    for batch in Reader(path, mapping()).batches():
        assert len(batch) == 9

    assert taken == [True]
