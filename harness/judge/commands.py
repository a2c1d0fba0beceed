"""The command ``judge``: from somebody's log to a verdict, a report and the line that let it through."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
import msgspec

from ..contract import UsageError
from ..targets import load_target
from .mapping import Mapping
from .mapping_file import load_mapping
from .ours import our_mapping
from .progress import progress
from .recorded import is_history, judge_history
from .run import Answer, judge_log
from .suggest import looks_like_ours, suggest

TRACED = "decisions.json"
TRACES_SHOWN = 5
SEED = 0


@click.command()
@click.argument("log", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--mapping",
    "mapping_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What the log's fields are (TOML). Not needed for leaserace's own logs and histories.",
)
@click.option(
    "--suggest",
    "only_suggest",
    is_flag=True,
    help="Draft a mapping from the log, print it on stdout, and judge nothing.",
)
@click.option(
    "--reconstruct",
    is_flag=True,
    help="Also write each finding as a schedule of the simulator, as its steps and as a pytest file.",
)
@click.option(
    "--target",
    default="reference",
    show_default=True,
    help="What the schedules of --reconstruct are for.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 64), help="Processes to use; default as many as are worth it."
)
@click.option(
    "--report",
    "report_dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".leaserace"),
    show_default=True,
    help="Folder under which the run's own folder is made.",
)
@click.option("--json", "as_json", is_flag=True, help="Print verdict.json on stdout.")
def judge(
    *,
    log: Path,
    mapping_file: Path | None,
    only_suggest: bool,
    reconstruct: bool,
    target: str,
    jobs: int | None,
    report_dir: Path,
    as_json: bool,
) -> int:
    """Judge the audit log of a mailbox: JSON Lines or CSV, of any size, also gzip.

    All rules that the log's fields can support are judged; the others are named, with what is
    missing. The answer: verdict, duplicates, double contacts, and for each the line of the log and the
    policy state that let it through.

    \b
    leaserace judge --suggest audit.jsonl > mapping.toml    draft a mapping, then look it over
    leaserace judge audit.jsonl --mapping mapping.toml
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if only_suggest:
        click.echo(suggest(log), nl=False)
        return 0
    if reconstruct:
        load_target(target)  # a name that is none is better said before an hour of judging
    answer, mapping = _judged(log, mapping_file, jobs)
    commands = importlib.import_module("leaserace.harness.commands")
    run_dir: Path = commands.make_run_dir(report_dir, "judge", SEED)
    (run_dir / "history.jsonl").unlink()
    files = importlib.import_module("leaserace.reports.files")
    files.write_all(answer.outcome, answer.history, run_dir)
    (run_dir / TRACED).write_bytes(
        msgspec.json.format(msgspec.json.encode(answer.traced), indent=2) + b"\n"
    )
    if reconstruct:
        from .reconstruct import write_reconstructions

        told = write_reconstructions(answer, mapping, run_dir, target=target)
    else:
        told = []
    if as_json:
        click.echo(answer.outcome.to_json().decode(), nl=False)
    else:
        show = importlib.import_module("leaserace.reports.show")
        show.print_outcome(answer.outcome, answer.history, run_dir)
        _print_traces(answer)
        text = importlib.import_module("leaserace.reports.text")
        for line in told:
            click.echo(text.visible(line))
    return answer.outcome.verdict.exit_status


def _judged(
    log: Path, mapping_file: Path | None, jobs: int | None
) -> tuple[Answer, Mapping | None]:
    """The log judged, by its mapping or as what it can be seen to be."""
    if mapping_file is None and is_history(log):
        return judge_history(log), None
    if mapping_file is not None:
        mapping = load_mapping(mapping_file)
    elif looks_like_ours(log):
        mapping = our_mapping()
    else:
        raise UsageError(
            f"{log.name}: what its fields mean is not known: draft a mapping with "
            f"leaserace judge --suggest {log} > mapping.toml, then give it with --mapping"
        )
    with progress() as tell:
        return judge_log(
            log, mapping, jobs=jobs, progress=tell, again=_again(log, mapping_file)
        ), mapping


def _again(log: Path, mapping_file: Path | None) -> str:
    import shlex

    parts = ["leaserace", "judge", str(log)]
    if mapping_file is not None:
        parts += ["--mapping", str(mapping_file)]
    return shlex.join(parts)


def _print_traces(answer: Answer) -> None:
    """The lines behind the first findings, as the log has them."""
    text = importlib.import_module("leaserace.reports.text")
    for traced in answer.traced[:TRACES_SHOWN]:
        if not traced.decisions:
            continue
        click.echo(f"{traced.rule}: {text.visible(traced.message)}")
        for decision in traced.decisions:
            state = msgspec.json.encode(decision.state, order="sorted").decode()
            on = f"on {state}" if decision.state else "(no policy state in the line)"
            who = f" {decision.agent}" if decision.agent else ""
            click.echo(
                text.visible(f"  line {decision.line}  {decision.at}  {decision.f}{who} {on}")
            )
    if len(answer.traced) > TRACES_SHOWN:
        click.echo(f"{len(answer.traced) - TRACES_SHOWN} more findings are traced in {TRACED}.")


__all__ = ["judge"]
