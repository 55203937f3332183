"""`distill batch`: the jobs of a sweep."""

from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import Json, errors, print_json, print_table, print_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from distill.jobs import JobBatch, SettingEffect, Work

_SHOWN = 20  # jobs in the live table
_WIDTH = 46  # characters of the settings of a job


def batch(
    sweep: Annotated[Path, typer.Argument(help="A YAML file such as configs/sweeps/seeds.yaml.")],
    out: options.OutFolder = options.RUNS,
    executor: options.Executor = "local",
    workers: options.Workers = None,
    dry_run: options.DryRun = False,
    retry_failed: options.Retry = False,
    changes: options.Changes = None,
    as_json: Json = False,
) -> None:
    """Run all jobs of a sweep: grids and lists of settings, checkpoints, problems and seeds.

    A stage that several jobs share is run once. A job that has finished is not run again, so an interrupted
    batch continues where it stopped. If a job fails, the others continue, and failures are reported at the
    end. A table and a figure show the effect of each setting. The exit code is 1 if a job failed.

    Examples: `distill batch configs/sweeps/seeds.yaml --dry-run`, `distill batch configs/sweeps/chapter5.yaml`,
    `distill batch SWEEP.yaml --executor dask://127.0.0.1:8786`.
    """
    from distill.jobs import JobBatch, Sweep, effects, parse_override, table_of, write_summary

    processes = options.worker_count(workers)
    plan = Sweep.read(sweep, dict(map(parse_override, changes or [])))
    jobs = JobBatch(plan, out, retry=retry_failed)
    if dry_run:
        show_plan(jobs, as_json)
        return
    run_jobs(jobs, executor, processes)
    place = write_summary(plan.name, jobs.works, plan.varied, out)
    if as_json:
        print_json({"sweep": plan.name, "summary": str(place), "jobs": _as_json(jobs.works)})
    else:
        _show(jobs, effects(table_of(jobs.works), plan.varied), place)
    exit_if_failed(jobs)


def run_jobs(jobs: "JobBatch", executor: str, processes: int) -> None:
    """Run all jobs that have not finished, and show their progress."""
    from distill.jobs import executor as executor_of

    if any(work.state == "waiting" for work in jobs.works):
        with executor_of(executor, processes) as pool, _live(jobs, processes) as progress:
            jobs.run(pool, progress)


def exit_if_failed(jobs: "JobBatch") -> None:
    """Exit with code 1 if a job failed."""
    if any(work.state == "failed" for work in jobs.works):
        raise typer.Exit(1)


def _as_json(works: "Sequence[Work]") -> list[dict[str, Any]]:
    return [
        {
            "run": work.name,
            "state": work.state,
            "stage": work.stage,
            "error": work.error,
            "settings": dict(work.job.settings),
            "metrics": dict(work.metrics),
        }
        for work in works
    ]


def show_plan(jobs: "JobBatch", as_json: bool) -> None:
    """Print the number of jobs and the stages that they share."""
    from dataclasses import asdict

    shared = jobs.stage_counts()
    states = _counts(jobs.works, "done", "failed", "waiting")
    if as_json:
        stages = [asdict(one) for one in shared]
        print_json({"sweep": jobs.sweep.name, "jobs": len(jobs.works), **states, "stages": stages})
        return
    rows = [[one.stage, one.wanted, one.distinct, one.kept, one.distinct - one.kept] for one in shared]
    caption = (
        f"{len(jobs.works)} jobs: {states['done']} done, {states['failed']} failed, "
        f"{states['waiting']} to do. Varied: {', '.join(jobs.sweep.varied) or 'nothing'}."
    )
    print_table(f"Sweep {jobs.sweep.name}", ["stage", "jobs", "distinct", "cached", "to do"], rows, caption)
    show_failures(jobs.works)


def _show(jobs: "JobBatch", effects: "Sequence[SettingEffect]", place: Path) -> None:
    print_table(f"Sweep {jobs.sweep.name}", _COLUMNS, map(_row, jobs.works))
    if effects:
        measures = {"test_mae": "error on test", "formula_size": "size"}
        print_table(
            "Effects of the settings",
            ["setting", "on", "share of variance", "by chance", "matters", "best"],
            [
                [
                    one.setting.removeprefix("distillation."),
                    measures[one.measure],
                    f"{one.share:.2f}",
                    f"{one.chance:.2f}",
                    "yes" if one.matters else "no",
                    one.best,
                ]
                for one in effects
            ],
            "by chance: the share that a setting without effect exceeds in one of twenty sweeps",
        )
    print_text(f"{_counts(jobs.works, 'done')['done']} of {len(jobs.works)} jobs done")
    print_text(f"summary: {place}")
    show_failures(jobs.works)


def show_failures(works: "Sequence[Work]") -> None:
    """Print the jobs that failed, with the reasons."""
    failed = [work for work in works if work.state == "failed"]
    for work in failed:
        errors().print("[bold red]Failed:[/] ", end="")
        settings = _settings(work) or work.name or "a job"
        stage = f" (in {work.stage})" if work.stage else ""
        print_text(f"{settings}{stage}: {work.error}", errors())
    if any(work.name for work in failed):
        print_text("`--retry-failed` runs them again.", errors())


_COLUMNS = ["job", "state", "stage", "s", "MAE train", "MAE test", "size"]


def _row(work: "Work") -> list[Any]:
    splits = work.metrics.get("splits", {})
    maes = [f"{splits[name]['mae']:.4f}" if name in splits else "" for name in ("train", "test")]
    spent = f"{work.seconds:.0f}" if work.seconds else ""
    settings = _settings(work) or work.name or "–"
    return [settings, work.state, work.stage, spent, *maes, work.metrics.get("formula_size", "")]


def _counts(works: "Sequence[Work]", *states: str) -> dict[str, int]:
    return {state: sum(work.state == state for work in works) for state in states}


def _settings(work: "Work") -> str:
    """The settings of a job that vary in the sweep."""
    parts = []
    for key, value in work.job.settings.items():
        short = Path(value).stem if isinstance(value, str) and "/" in value else value
        short = "+".join(map(str, value)) if isinstance(value, list | tuple) else short
        parts.append(f"{short}" if key == "base" else f"{key.rpartition('.')[2]}={short}")
    return " ".join(parts)


@contextmanager
def _live(jobs: "JobBatch", processes: int) -> "Iterator[Callable[[Sequence[Work]], None]]":
    """Show the jobs in a live table; if standard error is a file, write a line for each job that ends."""
    if not errors().is_terminal:
        ends = ("done", "failed")
        ended = {number for number, work in enumerate(jobs.works) if work.state in ends}

        def report(works: "Sequence[Work]") -> None:
            for number, work in enumerate(works):
                if number not in ended and work.state in ends:
                    ended.add(number)
                    line = f"[{len(ended)}/{len(works)}] {_settings(work) or work.name}: {work.state}"
                    print_text(f"{line}{_remaining(works, processes)}", errors())

        yield report
        return
    from rich.live import Live

    with Live(console=errors(), refresh_per_second=4, transient=True) as live:
        yield lambda works: live.update(_table(jobs.sweep.name, works, processes))


def _remaining(works: "Sequence[Work]", processes: int) -> str:
    """An estimate of the time until all jobs have ended; empty before the first job has ended."""
    spent = [work.seconds for work in works if work.state == "done" and work.seconds]
    waiting = sum(work.state in ("waiting", "running") for work in works)
    if not spent or not waiting:
        return ""
    minutes = sum(spent) / len(spent) * waiting / processes / 60
    return f", about {max(1, round(minutes))} min left"


def _table(name: str, works: "Sequence[Work]", processes: int) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    counts = _counts(works, "done", "running", "failed")
    title = f"{name}: {len(works)} jobs, " + ", ".join(f"{n} {state}" for state, n in counts.items())
    title += _remaining(works, processes)
    table = Table(*_COLUMNS, title=title, box=box.SIMPLE_HEAD)
    order = {"running": 0, "failed": 1, "waiting": 2, "done": 3}
    for work in sorted(works, key=lambda one: order[one.state])[:_SHOWN]:
        cells = [str(cell) for cell in _row(work)]
        cells[0] = cells[0] if len(cells[0]) <= _WIDTH else cells[0][: _WIDTH - 1] + "…"
        table.add_row(*map(Text, cells))
    if len(works) > _SHOWN:
        table.caption = f"and {len(works) - _SHOWN} more"
    return table
