"""Checking a contact list: who is one person, who only looks alike, who is no address (spec: I5)."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leaserace.harness import contacts as module
from leaserace.harness.contacts import Check, Summary
from leaserace.harness.contract import UsageError
from leaserace.harness.judge.identity import key_function, plain
from leaserace.harness.list_command import contacts
from leaserace.harness.list_rows import addresses
from leaserace.harness.spellings import reasons, shape
from leaserace.reference_impl.identity import Identity, InvalidAddress, address_rules
from leaserace.reference_impl.keying import key_function as reference
from leaserace.reports.clusters import clusters_svg

LIST = (
    "Jane.Doe@Acme.com",
    "jane.doe@acme.com",
    " jane.doe@acme.com ",
    "Jane <jane.doe@acme.com.>",
    "bob.smith+news@gmail.com",
    "bobsmith@googlemail.com",
    "p\u0430ul@example.com",  # the second letter is Cyrillic
    "paul@example.com",
    "nobody",
    "a@b@c.com",
    "zoë@fass.example",
    "zoe\u0308@fass.example",
)


def check(
    rows: Iterable[str], tmp_path: Path, size: int = 0, aliases: dict[str, str] | None = None
) -> tuple[Summary, list[dict[str, str]]]:
    """Summary and rows of a list."""
    out = io.StringIO()
    checker = Check(reference(aliases or {}), out, tmp_path, size)
    summary = checker.run(enumerate(rows, start=1))
    return summary, list(csv.DictReader(io.StringIO(out.getvalue())))


def test_rows_that_are_one_contact_are_told_with_the_rule(tmp_path: Path) -> None:
    """spec: I1, I2, I3."""
    summary, rows = check(LIST, tmp_path)

    assert (summary.rows, summary.contacts, summary.collapsed) == (12, 5, 5)
    rule = {row["address"]: row["rule"] for row in rows if row["what"] == "same contact"}
    assert rule["Jane.Doe@Acme.com"] == "letter case"
    assert rule[" jane.doe@acme.com "] == "white space"
    assert rule["Jane <jane.doe@acme.com.>"] == "display name and trailing dot"
    assert rule["bob.smith+news@gmail.com"] == "plus tag and dots"
    assert rule["bobsmith@googlemail.com"] == "domain alias"
    assert rule["zoe\u0308@fass.example"] == "Unicode form"


def test_keys_that_only_look_alike_are_different_persons(tmp_path: Path) -> None:
    """spec: I3."""
    summary, rows = check(LIST, tmp_path)

    assert (summary.alike_groups, summary.alike_contacts) == (1, 2)
    assert {row["contact"] for row in rows if row["what"] == "only looks alike"} == {
        "paul@example.com",
        "p\u0430ul@example.com",
    }


def test_what_is_no_address_is_told_with_the_reason_and_its_line(tmp_path: Path) -> None:
    """spec: I4."""
    summary, rows = check(LIST, tmp_path)

    assert summary.no_address == 2
    told = {row["line"]: row["rule"] for row in rows if row["what"] == "no address"}
    assert set(told) == {"9", "10"}
    assert "@-sign" in told["9"]


def test_domains_that_share_their_names_are_suggested_as_aliases(tmp_path: Path) -> None:
    """spec: I2."""
    people = [
        f"{name}@{domain}"
        for name in ("ann", "ben", "cat")
        for domain in ("acme.com", "acme.co.uk")
    ]
    many = [f"p{n}@mail.com" for n in range(50)] + [
        "ann@mail.com",
        "info@acme.com",
        "info@mail.com",
    ]

    summary, _ = check([*people, *many], tmp_path)

    assert summary.aliases == [("acme.co.uk", "acme.com", 3)]
    assert not check(people, tmp_path, aliases={"acme.co.uk": "acme.com"})[0].aliases


def test_a_list_in_parts_says_the_same(tmp_path: Path) -> None:
    rows = [each for n in range(50) for each in (f"P{n}@X.com", f"p{n}@x.com", f"q{n}@y{n}.com")]

    whole, told = check(rows, tmp_path)
    parts, told_in_parts = check(rows, tmp_path, size=10**9)

    assert parts == whole
    assert sorted(map(str, told_in_parts)) == sorted(map(str, told))


def test_the_memory_does_not_grow_with_the_list(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        rows = (f"user{n % 7_000}.{n}@d{n % 90}.example.com" for n in range(count))
        Check(plain({}), io.StringIO(), tmp_path, count * 2_000).run(enumerate(rows, start=1))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(60_000) < 3 * peak(15_000)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a@x.com\nb@x.com\n", [(1, "a@x.com"), (2, "b@x.com")]),
        ("email\na@x.com\n\nb@x.com", [(2, "a@x.com"), (4, "b@x.com")]),
        ("id,email\n1,a@x.com\n2,b@x.com\n", [(2, "a@x.com"), (3, "b@x.com")]),
        ("1;a@x.com\n2;b@x.com\n", [(1, "a@x.com"), (2, "b@x.com")]),
        ('name,mail\n"Doe, J",a@x.com\n', [(2, "a@x.com")]),
        ("\ufeffa@x.com\n", [(1, "   a@x.com")]),
    ],
    ids=["text", "text with a header", "csv", "csv without a header", "quoted", "byte order mark"],
)
def test_a_list_is_read_as_it_is_laid_out(
    text: str, found: list[tuple[int, str]], tmp_path: Path
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(text, encoding="utf-8")

    assert list(addresses(path)) == found


def test_a_column_can_be_named_and_an_absent_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("work,home\na@x.com,b@x.com\n", encoding="utf-8")

    assert [address for _, address in addresses(path, "home")] == ["b@x.com"]
    with pytest.raises(UsageError, match=r"list\.csv:1: no column is called 'mail'"):
        list(addresses(path, "mail"))


@given(st.binary(max_size=300))
@example(b"\r;")
def test_any_bytes_are_rows_and_never_a_crash(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "list"
        path.write_bytes(data)
        try:
            rows = list(addresses(path))
        except UsageError:
            return
        summary, _ = check([address for _, address in rows], Path(folder))
        assert summary.rows == len(rows)


LOCALS = st.one_of(
    st.from_regex(r"\A[A-Za-z0-9._+-]{1,12}\Z"),
    st.from_regex(r"\A[A-Za-z.]{55,70}(\+news)?\Z"),
)
DOMAINS = st.sampled_from(
    (
        "x.com",
        "X.Com",
        "gmail.com",
        "GoogleMail.com",
        "faß.de",
        "xn--fa-hia.de",
        "a..b",
        "-x.com",
        "x",
        "1.2.3.4",
        "x.com.",
        "a_b.com",
        "\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444",
        "x\u3002com",
        "ex\u00adample.com",
        "\u212a.com",
        "x..com",
        f"{'a' * 60}.{'b' * 38}",
        f"{'ü' * 20}.com",
        "gmail.com.",
        "[127.0.0.1]",
    )
)


@settings(max_examples=300, deadline=None)
@given(local=LOCALS, domain=DOMAINS)
def test_the_quick_way_to_a_key_agrees_with_the_full_rules(local: str, domain: str) -> None:
    """spec: I1, I2, I3."""
    address = f"{local}@{domain}"
    quick, full = reference({}), Identity(address_rules())

    try:
        wanted = full.work_out(address).key
    except InvalidAddress:
        with pytest.raises(InvalidAddress):
            quick(address)
    else:
        assert quick(address) == wanted


def test_more_domains_than_are_kept_give_the_same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaserace.reference_impl.keying.DOMAINS_CACHED", 2)
    key_of = reference({})

    keys = [key_of(f"Jane@x{number % 4}.com") for number in range(12)]

    assert keys == [f"jane@x{number % 4}.com" for number in range(12)]


def test_a_spelling_that_is_the_key_has_no_reason() -> None:
    assert reasons("jane@acme.com", "jane@acme.com") == ()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("p\u0430ul@x.com", "paul@x.com"),
        ("jose@x.com", "josé@x.com"),
        ("bi11@x.com", "bill@x.com"),
        ("j.doe@x.com", "jdoe@x.com"),
        ("a@xn--80ak6aa92e.com", "a@apple.com"),
    ],
)
def test_what_looks_alike_has_one_shape(one: str, two: str) -> None:
    assert shape(one) == shape(two)


def test_other_names_have_other_shapes() -> None:
    assert shape("paul@x.com") != shape("paula@x.com")


def test_no_identity_of_an_unknown_name_is_made_up() -> None:
    with pytest.raises(UsageError, match="none is called 'nope'; there are"):
        key_function("nope", {})


def run(*arguments: object) -> Result:
    """Run the command; errors come through."""
    return CliRunner().invoke(
        contacts, [str(each) for each in arguments], catch_exceptions=False, standalone_mode=False
    )


def test_the_command_writes_rows_summary_and_picture(tmp_path: Path) -> None:
    path = tmp_path / "list.txt.gz"
    path.write_bytes(gzip.compress("\n".join(LIST).encode()))

    result = run(path, "--report", tmp_path / "runs", "--alias", "acme.co.uk=acme.com")

    folder = next((tmp_path / "runs").iterdir())
    assert result.return_value == 0
    assert "12 rows" in result.output
    assert json.loads((folder / "contacts.json").read_bytes())["rows"] == 12
    assert (folder / "contacts.csv").read_text("utf-8").startswith("line,address,contact,what")
    assert (folder / "clusters.svg").read_bytes().startswith(b"<svg")


def test_check_exits_with_1_where_two_rows_are_one_contact(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("a@x.com\nA@x.com\n", encoding="utf-8")

    assert run(path, "--check", "--report", tmp_path / "runs").return_value == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "no row holds anything"),
        (b"\x00\x01\x02\n\xff\n", "no row is an address"),
        (b"x" * 20_000_000, "no row is an address"),
    ],
    ids=["empty", "blank", "rubbish", "one long line"],
)
def test_what_is_no_list_is_one_clear_line(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(data)

    with pytest.raises(UsageError, match=r"list\.txt") as caught:
        run(path, "--report", tmp_path / "runs")

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_cell_of_the_csv_is_a_formula(tmp_path: Path) -> None:
    _, rows = check(["=cmd|' /C calc'!A0", "@sum(1)", "-1@"], tmp_path)

    assert all(row["address"][0] == "'" for row in rows)


def test_the_picture_shows_text_as_text_and_is_the_same_each_time(tmp_path: Path) -> None:
    summary, _ = check(["a@x.com", "A@X.com"], tmp_path)
    summary.clusters[0].name = "<script>alert(1)</script>"

    picture = clusters_svg(summary)

    assert b"<script" not in picture
    assert picture == clusters_svg(summary)


def test_pairs_of_domains_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAIRS_MAX", 10)

    summary, _ = check([f"name{n}@{d}{n}.com" for n in range(30) for d in ("a", "b")], tmp_path)

    assert summary.notices == ["Pairs of domains that share one name only were not all kept."]
