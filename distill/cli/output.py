"""How commands show their answers: tables and progress for people, JSON for programs."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for programs.")]


@cache
def console() -> "Console":
    """Where answers go."""
    from rich.console import Console

    return Console()


@cache
def errors() -> "Console":
    """Where messages and progress go, so that they never mix with an answer."""
    from rich.console import Console

    return Console(stderr=True)


def print_json(answer: Any) -> None:
    """Print an answer for programs."""
    typer.echo(json.dumps(answer, indent=1, ensure_ascii=False))


def print_table(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[Any]],
    caption: str = "",
    *,
    names: bool = False,
) -> None:
    """Print an answer for people; numbers stand to the right.

    Parameters
    ----------
    names : whether the first column has names, which are never broken, so that they can be copied.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    kept = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(columns):
        numeric = all(isinstance(row[number], int | float) or row[number] in ("", "–") for row in kept)
        whole = names and number == 0
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", no_wrap=whole)
    for row in kept:
        # Plain text: square brackets in formulas are no markup.
        table.add_row(*(Text(_shown(cell)) for cell in row))
    # A table would break its title and caption at its own width.
    console().print(title, style="bold", highlight=False, markup=False)
    console().print(table)
    if caption:
        console().print(caption, style="italic", highlight=False, markup=False)


def _shown(cell: Any) -> str:
    return f"{cell:,}".replace(",", " ") if isinstance(cell, int) and abs(cell) >= 10_000 else str(cell)


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress on standard error while the body runs; it is called with the steps done and to do."""
    with stage_bar() as told:
        yield lambda done, total: told(title, done, total)


@contextlib.contextmanager
def stage_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show progress of several stages; it is called with the stage and the steps done and to do."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors(), transient=True, disable=not errors().is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)
