"""`distill batch`: the jobs of a sweep."""

import os
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import Json, console, errors, print_json, print_table
from distill.cli.source import Workers, check_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from distill.jobs import Batch, Effect, Work

_SHOWN = 20  # jobs in the live table
_KEYS = 46  # characters of what a job is about


def batch(
    sweep: Annotated[Path, typer.Argument(help="A YAML file such as configs/sweeps/seeds.yaml.")],
    out: Annotated[Path, typer.Option(help="The folder that keeps runs.")] = Path("artifacts/runs"),
    executor: Annotated[
        str,
        typer.Option(help="Who works: `local` processes, or `dask://HOST:PORT`, the scheduler of a cluster."),
    ] = "local",
    workers: Workers = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell how many jobs there are and what they share.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try jobs again that failed earlier.")
    ] = False,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting for all jobs; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Do all jobs of a sweep: grids and lists of settings, checkpoints, problems and seeds.

    Stages that jobs share are done once. Jobs that are done are not done again, so an interrupted batch goes
    on where it stopped; whatever fails, the others go on, and failures are explained at the end. Then a table
    and a figure tell which setting matters. Exits with 1 if a job failed.

    Examples: `distill batch configs/sweeps/seeds.yaml --dry-run`, `distill batch configs/sweeps/thesis.yaml`,
    `distill batch SWEEP.yaml --executor dask://127.0.0.1:8786`.
    """
    from distill.jobs import Batch, Sweep, effects, parse_override, table_of, write_summary

    check_workers(workers)
    read = Sweep.read(sweep, dict(parse_override(text) for text in given or []))
    made = Batch(read, out, retry=retry_failed)
    if dry_run:
        show_plan(made, as_json)
        return
    do(made, executor, workers)
    place = write_summary(read.name, made.works, read.varied, out)
    found = effects(table_of(made.works), read.varied)
    if as_json:
        print_json({"sweep": read.name, "summary": str(place), "jobs": _as_json(made.works)})
    else:
        _show(made, found, place)
    if any(work.state == "failed" for work in made.works):
        raise typer.Exit(1)


def do(made: "Batch", executor: str, workers: int | None) -> None:
    """Do all jobs that are not done, and show how far they are."""
    from distill.jobs import executor_of

    if any(work.state == "waiting" for work in made.works):
        with executor_of(executor, workers or os.cpu_count() or 1) as doing, _live(made) as told:
            made.do(doing, told)


def _as_json(works: "Sequence[Work]") -> list[dict[str, Any]]:
    return [
        {
            "run": work.name,
            "state": work.state,
            "stage": work.stage,
            "error": work.error,
            "settings": dict(work.planned.settings),
            "metrics": dict(work.metrics),
        }
        for work in works
    ]


def show_plan(made: "Batch", as_json: bool) -> None:
    """Show how many jobs there are and what they share."""
    from dataclasses import asdict

    shared = made.shared()
    states = {
        state: sum(work.state == state for work in made.works) for state in ("done", "failed", "waiting")
    }
    if as_json:
        stages = [asdict(one) for one in shared]
        print_json({"sweep": made.sweep.name, "jobs": len(made.works), **states, "stages": stages})
        return
    rows = [[one.stage, one.wanted, one.distinct, one.kept, one.distinct - one.kept] for one in shared]
    caption = (
        f"{len(made.works)} jobs: {states['done']} done, {states['failed']} failed, "
        f"{states['waiting']} to do. Varied: {', '.join(made.sweep.varied) or 'nothing'}."
    )
    print_table(f"Sweep {made.sweep.name}", ["stage", "jobs", "distinct", "kept", "to do"], rows, caption)
    show_failures(made.works)


def _show(made: "Batch", found: "Sequence[Effect]", place: Path) -> None:
    rows = [_row(work) for work in made.works]
    print_table(f"Sweep {made.sweep.name}", _COLUMNS, rows)
    if found:
        measures = {"test_mae": "error on test", "formula_size": "size"}
        print_table(
            "What matters",
            ["setting", "for", "share of variance", "by chance", "matters", "best"],
            [
                [
                    one.setting.removeprefix("distillation."),
                    measures[one.measure],
                    f"{one.share:.2f}",
                    f"{one.chance:.2f}",
                    "yes" if one.matters else "no",
                    one.best,
                ]
                for one in found
            ],
            "by chance: what a setting that does nothing reaches in one of twenty sweeps",
        )
    done = sum(work.state == "done" for work in made.works)
    console().print(f"{done} of {len(made.works)} jobs done", highlight=False)
    console().print(f"summary: {place}", soft_wrap=True, highlight=False)
    show_failures(made.works)


def show_failures(works: "Sequence[Work]") -> None:
    """Tell which jobs failed, and why."""
    failed = [work for work in works if work.state == "failed"]
    for work in failed:
        errors().print("[bold red]Failed:[/] ", end="")
        about = _about(work) or work.name or "a job"
        stage = f" (in {work.stage})" if work.stage else ""
        errors().print(f"{about}{stage}: {work.error}", markup=False, highlight=False, soft_wrap=True)
    if any(work.name for work in failed):
        errors().print("`--retry-failed` tries them again.", markup=False, highlight=False)


_COLUMNS = ["job", "state", "stage", "s", "MAE train", "MAE test", "size"]


def _row(work: "Work") -> list[Any]:
    splits = work.metrics.get("splits", {})
    maes = [f"{splits[name]['mae']:.4f}" if name in splits else "" for name in ("train", "test")]
    spent = f"{work.seconds:.0f}" if work.seconds else ""
    about = _about(work) or work.name or "–"
    return [about, work.state, work.stage, spent, *maes, work.metrics.get("formula_size", "")]


def _about(work: "Work") -> str:
    """What sets a job apart from the others."""
    parts = []
    for key, value in work.planned.settings.items():
        short = Path(value).stem if isinstance(value, str) and "/" in value else value
        short = "+".join(map(str, value)) if isinstance(value, list | tuple) else short
        parts.append(f"{short}" if key == "base" else f"{key.rpartition('.')[2]}={short}")
    return " ".join(parts)


@contextmanager
def _live(made: "Batch") -> "Iterator[Callable[[Sequence[Work]], None]]":
    """A table that follows the jobs, or in a file a line for each that ends."""
    if not errors().is_terminal:
        told: set[int] = {
            number for number, work in enumerate(made.works) if work.state in ("done", "failed")
        }

        def say(works: "Sequence[Work]") -> None:
            for number, work in enumerate(works):
                if number not in told and work.state in ("done", "failed"):
                    told.add(number)
                    line = f"[{len(told)}/{len(works)}] {_about(work) or work.name}: {work.state}"
                    errors().print(line, markup=False, highlight=False, soft_wrap=True)

        yield say
        return
    from rich.live import Live

    with Live(console=errors(), refresh_per_second=4, transient=True) as live:
        yield lambda works: live.update(_table(made.sweep.name, works))


def _table(name: str, works: "Sequence[Work]") -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    counts = {state: sum(work.state == state for work in works) for state in ("done", "running", "failed")}
    title = f"{name}: {len(works)} jobs, " + ", ".join(f"{n} {state}" for state, n in counts.items())
    table = Table(*_COLUMNS, title=title, box=box.SIMPLE_HEAD)
    order = {"running": 0, "failed": 1, "waiting": 2, "done": 3}
    for work in sorted(works, key=lambda one: order[one.state])[:_SHOWN]:
        cells = [str(cell) for cell in _row(work)]
        cells[0] = cells[0] if len(cells[0]) <= _KEYS else cells[0][: _KEYS - 1] + "…"
        table.add_row(*map(Text, cells))
    if len(works) > _SHOWN:
        table.caption = f"and {len(works) - _SHOWN} more"
    return table
