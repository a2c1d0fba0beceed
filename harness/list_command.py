"""The command ``contacts``: checks a contact list before anything is automated (spec: I5)."""

from __future__ import annotations

import importlib
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from .contacts import Check, Cluster, Summary
from .contract import UsageError
from .judge.identity import key_function
from .judge.lines import GZIP_MAGIC
from .judge.progress import progress
from .list_rows import addresses

ROWS_FILE = "contacts.csv"
PICTURE_FILE = "clusters.svg"
SUMMARY_FILE = "contacts.json"
PACKED_RATIO = 10
BYTES_A_ROW = 26
"""How long a row is, for the progress shown."""
SHOWN = 10
SEED = 0


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--column", default="", help="Column of a CSV file; default the one with addresses.")
@click.option(
    "--alias",
    "aliases",
    multiple=True,
    metavar="ALIAS=DOMAIN",
    help="Two domains that are one; may be given again.",
)
@click.option("--identity", default="", help="Identity function; default the reference's.")
@click.option(
    "--report",
    "report_dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".leaserace"),
    show_default=True,
    help="Folder under which the run's own folder is made.",
)
@click.option("--check", is_flag=True, help="Exit with 1 if two rows are one contact.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def contacts(
    *,
    file: Path,
    column: str,
    aliases: tuple[str, ...],
    identity: str,
    report_dir: Path,
    check: bool,
    as_json: bool,
) -> int:
    """Check a contact list: who is one person under several spellings, who only looks alike.

    FILE is a text file with an address a line, or a CSV file, of any size, also gzip. Lease keys that
    are built from messy addresses inherit its duplicates.
    """
    key_of, name = key_function(identity, _aliases(aliases))
    commands = importlib.import_module("leaserace.harness.commands")
    log_bytes = _size(file)
    rows = addresses(file, column)
    first = next(rows, None)
    if first is None:
        raise UsageError(f"{file.name}: no row holds anything")
    run_dir: Path = commands.make_run_dir(report_dir, "contacts", SEED)
    (run_dir / "history.jsonl").unlink()
    with (
        (run_dir / ROWS_FILE).open("w", newline="", encoding="utf-8") as out,
        tempfile.TemporaryDirectory(prefix="leaserace-contacts-") as folder,
        progress() as tell,
    ):
        checker = Check(key_of, out, Path(folder), log_bytes)
        summary = checker.run(itertools.chain([first], rows), _telling(tell, log_bytes))
    if summary.rows == summary.no_address:
        raise UsageError(
            f"{file.name}:{first[0]}: no row is an address; the first is {first[1][:80]!r}"
        )
    if name == "plain":
        summary.notices.append(
            "Only case and aliases were folded: no fuller identity is registered."
        )
    clusters = importlib.import_module("leaserace.reports.clusters")
    (run_dir / PICTURE_FILE).write_bytes(clusters.clusters_svg(summary))
    data = msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"
    (run_dir / SUMMARY_FILE).write_bytes(data)
    if as_json:
        click.echo(data.decode(), nl=False)
    else:
        _print(summary, run_dir)
    return 1 if check and summary.collapsed else 0


def _aliases(pairs: tuple[str, ...]) -> dict[str, str]:
    table = {}
    for pair in pairs:
        alias, sign, domain = pair.partition("=")
        if not sign or not alias or not domain:
            raise UsageError(
                f"--alias {pair!r}: write ALIAS=DOMAIN, such as googlemail.com=gmail.com"
            )
        table[alias.strip()] = domain.strip()
    return table


def _size(file: Path) -> int:
    try:
        with file.open("rb") as source:
            packed = source.read(2) == GZIP_MAGIC
        return file.stat().st_size * (PACKED_RATIO if packed else 1)
    except OSError as error:
        raise UsageError(f"{str(file)!r} can't be read: {error.strerror}") from error


def _telling(tell: Callable[[str, float], None], log_bytes: int) -> Callable[[int], None]:
    rows = max(1, log_bytes // BYTES_A_ROW)
    return lambda done: tell("reading", min(1.0, done / rows))


def _print(summary: Summary, run_dir: Path) -> None:
    """What there is to say, for a person."""
    show = importlib.import_module("leaserace.reports.show")
    click.echo(
        f"{summary.rows:,} rows, {summary.contacts:,} contacts: {summary.collapsed:,} rows are "
        f"somebody who is there already, {summary.alike_contacts:,} contacts only look like another, "
        f"{summary.no_address:,} rows are no address."
    )
    if summary.by_rule:
        click.echo("\nOne contact by")
        for rule, count in summary.by_rule.items():
            click.echo(f"  {rule:<16}{count:>12,} rows")
    _print_clusters("\nLargest contacts", summary.clusters, "row")
    _print_clusters(
        "\nOnly look alike (different persons, the same to a reader)", summary.alike, "contact"
    )
    if summary.why:
        click.echo("\nNo address, because")
        for reason, count in summary.why.items():
            click.echo(f"  {count:>8,}  {_shown(reason)}")
    if summary.aliases:
        click.echo("\nThe aliases table should perhaps learn (names that both domains have)")
        for alias, domain, count in summary.aliases[:SHOWN]:
            click.echo(f"  {_shown(alias)} = {_shown(domain)}  ({count:,} names)")
    for notice in summary.notices:
        click.echo(f"\n{notice}")
    click.echo(
        f"\nEverything: {show.shown_path(run_dir)} ({ROWS_FILE}, {PICTURE_FILE}, {SUMMARY_FILE})"
    )


def _print_clusters(title: str, clusters: list[Cluster], what: str) -> None:
    if not clusters:
        return
    click.echo(title)
    for cluster in clusters[:SHOWN]:
        rules = f"  by {', '.join(cluster.rules)}" if cluster.rules else ""
        click.echo(f"  {_shown(cluster.name)}: {cluster.rows:,} {what}s{rules}")
        click.echo(f"      {', '.join(_shown(each) for each in cluster.spellings[:4])}")
    if len(clusters) > SHOWN:
        click.echo(f"  and more; {ROWS_FILE} has all")


def _shown(text: str) -> str:
    visible = importlib.import_module("leaserace.reports.text").visible
    return str(visible(text[:100]))


__all__ = ["contacts"]
