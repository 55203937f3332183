"""The entry point: all commands, and the output of errors."""

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from distill import __version__
from distill.cli import (
    app as workbench,
    batch,
    checkpoint,
    config,
    conflicts,
    data,
    evaluate,
    export,
    faithfulness,
    families,
    formula,
    graphs,
    plan,
    probe,
    problems,
    quotient,
    refit,
    replay,
    robustness,
    run,
    runs,
    train,
    verify,
)
from distill.cli.output import errors, print_text
from distill.common import InputError, InterruptionError, range_text, shown


class _Commands(TyperGroup):
    """All commands; a number that is out of range is reported as one sentence, like a setting."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            least, most = (getattr(error.param, name, None) for name in ("min", "max"))
            if least is None or most is None:
                raise
            names = [*getattr(error.param, "opts", [])]
            given: list[Any] = getattr(error.__cause__, "errors", list)()
            value = given[0]["input"] if given else None
            raise InputError(f"{max(names, key=len)} {range_text(least, most, value)}") from error


app = typer.Typer(
    name="distill",
    cls=_Commands,
    help="Distil neural value functions for planning into logical formulas.\n\n"
    "First steps: `distill problems` lists the problem classes, `distill data gripper` labels states, and "
    "`distill run configs/runs/gripper.yaml` distils a network. Every command has --help, most have --json.",
    rich_markup_mode="markdown",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_COMMANDS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Data": {
        "problems": problems.problems,
        "data": data.data,
        "plan": plan.plan,
        "conflicts": conflicts.conflicts,
        "quotient": quotient.quotient,
    },
    "Networks": {
        "train": train.train,
        "checkpoint": checkpoint.app,
        "evaluate": evaluate.evaluate,
        "replay": replay.replay,
        "probe": probe.probe,
    },
    "Distillation": {
        "run": run.run,
        "batch": batch.batch,
        "config": config.app,
        "refit": refit.refit,
        "graphs": graphs.graphs,
    },
    "Trust": {
        "verify": verify.verify,
        "recheck": verify.recheck,
        "stability": robustness.stability,
        "ablations": robustness.ablations,
        "faithfulness": faithfulness.faithfulness,
    },
    "Runs": {
        "runs": runs.app,
        "verify-run": runs.verify_run,
        "export": export.export,
        "app": workbench.app,
    },
    "Formulas": {
        "formula": formula.app,
        "families": families.families,
    },
}
for _panel, _commands in _COMMANDS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, rich_help_panel=_panel)(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"planning-distill {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Options of all commands."""


def main() -> None:
    """Run the command line; an `InputError` is printed, and the exit code is 2."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    try:
        app()
    except InputError as error:
        errors().print("[bold red]Error:[/] ", end="")
        print_text(str(error), errors())
        sys.exit(2)
    except OSError as error:
        # A path that no reader or writer of files has checked, such as one with a name that is too long.
        if error.filename is None:
            raise
        errors().print("[bold red]Error:[/] ", end="")
        print_text(f"Cannot use {shown(error.filename)}: {error.strerror}; check the path.", errors())
        sys.exit(2)


def _interrupted(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise InterruptionError(
        "Interrupted; no file is incomplete, and the same command continues where it stopped."
    )
