"""The entry point: all commands, and how errors reach the user."""

import signal
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer

from distill import __version__
from distill.cli import app as workbench
from distill.cli import (
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
    plan,
    probe,
    problems,
    quotient,
    refit,
    replay,
    run,
    runs,
    train,
    trials,
    verify,
)
from distill.cli.output import errors
from distill.errors import InputError

app = typer.Typer(
    name="distill",
    help="Distil learned planners into logic: states in, formulas out, nothing lost on the way.\n\n"
    "Begin with `distill problems`, then `distill data gripper`. Every command explains itself with --help "
    "and most answer in JSON with --json.",
    rich_markup_mode="markdown",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("problems")(problems.problems)
app.command("data")(data.data)
app.command("plan")(plan.plan)
app.command("conflicts")(conflicts.conflicts)
app.command("quotient")(quotient.quotient)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("replay")(replay.replay)
app.command("run")(run.run)
app.command("batch")(batch.batch)
app.add_typer(runs.app, name="runs")
app.command("export")(export.export)
app.command("refit")(refit.refit)
app.command("verify-run")(runs.verify_run)
app.command("verify")(verify.verify)
app.command("recheck")(verify.recheck)
app.command("stability")(trials.stability)
app.command("ablations")(trials.ablations)
app.command("families")(families.families)
app.command("faithfulness")(faithfulness.faithfulness)
app.command("app")(workbench.app)
app.add_typer(config.app, name="config")
app.command("probe")(probe.probe)
app.add_typer(checkpoint.app, name="checkpoint")
app.add_typer(formula.app, name="formula")


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
    """Run the command line; what the user can mend is told in one sentence, with exit code 2."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    try:
        app()
    except InputError as error:
        errors().print("[bold red]Error:[/] ", end="")
        errors().print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


def _interrupted(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise InputError("Interrupted; nothing is half-written, and the same command goes on where it stopped.")
