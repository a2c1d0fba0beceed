"""The command line: finds targets and scenarios by name, runs them, shows what came of it."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from .contract import UsageError

EXIT_USAGE = 2
EXIT_HARNESS = 3
EXIT_INTERRUPTED = 130

COMMANDS: Mapping[str, tuple[str, str]] = {
    "gate": ("leaserace.harness.commands:gate", "Say whether an agent may be added to a mailbox."),
    "run": ("leaserace.harness.commands:run", "Run the races called NAME, on real processes."),
    "list": ("leaserace.harness.commands:list_", "List every race and what it expects."),
    "crash": (
        "leaserace.harness.crash.commands:crash",
        "Kill agents inside their calls: what arrives, what still holds.",
    ),
    "report": (
        "leaserace.reports.commands:report",
        "Show a recorded run again and rebuild its files.",
    ),
    "explore": (
        "leaserace.harness.simulation.commands:explore",
        "Walk the interleavings of a mailbox in the simulator.",
    ),
    "replay": (
        "leaserace.harness.simulation.commands:replay",
        "Run a recorded schedule again, step by step.",
    ),
    "fuzz": (
        "leaserace.harness.fuzz.commands:fuzz",
        "Draw shapes of trouble nobody listed, and shrink what is found.",
    ),
    "twins": (
        "leaserace.harness.simulation.commands:twins",
        "Prove that every missing safeguard is found.",
    ),
    "sweep": ("leaserace.harness.sweep.commands:sweep_", "Say how many agents a mailbox takes."),
    "layers": (
        "leaserace.harness.layers.commands:layers",
        "Say which layer stops which duplicate.",
    ),
    "judge": (
        "leaserace.harness.judge.commands:judge",
        "Judge an audit log of your own system.",
    ),
    "compare": (
        "leaserace.harness.compare_command:compare_",
        "Say what changed between two runs.",
    ),
    "contacts": (
        "leaserace.harness.list_command:contacts",
        "Check a contact list before anything is automated.",
    ),
    "export": (
        "leaserace.harness.export_command:export",
        "Write a history for other checkers.",
    ),
}
"""Command to where it is and what it does; each is imported only when it is asked for."""

EPILOG = """\b
Exit status:
  0  valid            every race came out as expected
  1  invalid          a rule was broken; the operations that prove it are shown
  2  wrong usage      one line says what to change
  3  harness failed   a fault of leaserace itself
  4  unknown          something kept it from judging; never read it as green
  5  not applicable   nothing here applies to this target
"""


class Commands(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of all commands."""
        return [*COMMANDS, *(entry.name for entry in entry_points(group="leaserace.commands"))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        where = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else None
        if where is None:
            for entry in entry_points(group="leaserace.commands", name=cmd_name):
                where = entry.value
        if where is None:
            return None
        module, _, attribute = where.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        rows = [(name, text) for name, (_, text) in COMMANDS.items()]
        rows += [
            (entry.name, f"From {entry.value.partition(':')[0]}.")
            for entry in entry_points(group="leaserace.commands")
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="leaserace", prog_name="leaserace")
def cli() -> None:
    """Show whether two agents can write to the same person, before you add the second one.

    \b
    leaserace gate                     the races against the reference
    leaserace gate --target my.mod:T   the same against your own mailbox
    leaserace list                     every race and what it expects
    """  # noqa: D301 - click reads \b as "leave these lines as they are"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status.

    Args:
        arguments: Without the program's name; None for the process's own.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    """Exit status of one call; each way to end has its one line."""
    try:
        outcome: Any = cli.main(arguments, prog_name="leaserace", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return EXIT_USAGE
    except click.ClickException as error:
        _say(error.format_message())
        return error.exit_code
    except UsageError as error:
        _say(str(error))
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; what was recorded is kept")
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last door: what comes here is our own fault
        traceback.print_exc()
        _say(f"a fault of leaserace itself, please report it: {type(error).__name__}: {error}")
        return EXIT_HARNESS
    return outcome if isinstance(outcome, int) else 0


def _say(line: str) -> None:
    click.echo(f"leaserace: {line}", err=True)
