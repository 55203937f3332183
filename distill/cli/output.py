"""The output of commands: tables and progress for people, JSON for programs."""

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
    """Standard output, for answers."""
    from rich.console import Console

    return Console()


@cache
def errors() -> "Console":
    """Standard error, for messages and progress."""
    from rich.console import Console

    return Console(stderr=True)


def print_json(answer: Any) -> None:
    """Print an answer as JSON."""
    typer.echo(json.dumps(answer, indent=1, ensure_ascii=False))


def print_table(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[Any]],
    caption: str = "",
    *,
    names: bool = False,
) -> None:
    """Print an answer as a table; numbers are aligned to the right.

    Parameters
    ----------
    names : whether the first column has names, which are not wrapped, so that they can be copied.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(columns):
        numeric = all(isinstance(row[number], int | float) or row[number] in ("", "–") for row in cells)
        whole = names and number == 0
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", no_wrap=whole)
    for row in cells:
        # Plain text, because formulas have square brackets.
        table.add_row(*(Text(_shown(cell)) for cell in row))
    # A table would wrap its title and caption at its own width.
    console().print(title, style="bold", highlight=False, markup=False)
    console().print(table)
    if caption:
        console().print(caption, style="italic", highlight=False, markup=False)


def print_text(text: str, to: "Console | None" = None) -> None:
    """Print a text without markup and without line breaks."""
    (to or console()).print(text, highlight=False, markup=False, soft_wrap=True)


def decimal(value: float | None, form: str = ".4f") -> str:
    """A number in a table; a dash if there is none."""
    return "–" if value is None else f"{value:{form}}"


def ratio(part: float, whole: float, form: str = ".2%") -> str:
    """A quotient in a table; a dash if the whole is zero."""
    return f"{part / whole:{form}}" if whole else "–"


def interval(low: int, high: int) -> str:
    """An interval of integers in a table."""
    return f"{low}-{high}" if low < high else f"{low}"


def _shown(cell: Any) -> str:
    return f"{cell:,}".replace(",", " ") if isinstance(cell, int) and abs(cell) >= 10_000 else str(cell)


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress while the body runs; yields a function of the finished steps and of all steps."""
    with stage_bar() as progress:
        yield lambda done, total: progress(title, done, total)


@contextlib.contextmanager
def stage_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show progress of several stages; yields a function of the stage, the finished steps and all steps."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors(), transient=True, disable=not errors().is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)
