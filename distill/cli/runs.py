"""`distill runs`: what runs there are, what they say, how they compare; and `distill verify-run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import Json, console, print_json, print_table, progress_bar
from distill.errors import InputError

if TYPE_CHECKING:
    from distill.jobs import Run

StoreFolder = Annotated[Path, typer.Option("--store", help="The folder that keeps runs.")]
RunName = Annotated[
    str, typer.Argument(help="A run's name, the beginning or end of one, or its folder.", metavar="RUN")
]
RUNS = Path("artifacts/runs")

app = typer.Typer(
    help="List, show, compare and remove runs.", no_args_is_help=True, rich_markup_mode="markdown"
)


@app.command("list")
def list_runs(
    store: StoreFolder = RUNS,
    problem: Annotated[str | None, typer.Option(help="Only runs on this problem class or domain.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Only runs that meet all training states.")] = False,
    as_json: Json = False,
) -> None:
    """List the runs in a folder with the metrics that matter; jobs that failed or are not done are told.

    Example: `distill runs list --problem gripper --exact`.
    """
    from distill.jobs import Store

    kept = Store(store)
    runs = [
        run
        for run in kept.runs()
        if (problem is None or run.about == problem) and (not exact or run.metrics["fit"].get("exact"))
    ]
    jobs = kept.jobs()
    if as_json:
        found = [{"run": run.name, "about": run.about, **run.metrics} for run in runs]
        print_json({"runs": found, "jobs": {name: status.state for name, status in jobs.items()}})
        return
    rows = [
        [
            run.name,
            run.metrics["pool"],
            "yes" if run.metrics["fit"].get("exact") else "no",
            *(_mae(run, split) for split in ("train", "test")),
            run.metrics["features"],
            run.metrics["formula_size"],
        ]
        for run in runs
    ]
    columns = ["run", "pool", "exact", "train", "test", "terms", "size"]
    if rows:
        caption = "train, test: mean absolute error; exact: on all training states"
        print_table(f"Runs in {store}", columns, rows, caption, names=True)
    else:
        hint = "no run fits" if problem or exact else "make one with `distill run configs/runs/gripper.yaml`"
        console().print(f"No runs in {store}; {hint}.", highlight=False, markup=False, soft_wrap=True)
    for name, status in jobs.items():
        told = status.error if status.state == "failed" else f"is in {status.stage}, or was when it was ended"
        console().print(f"{name}: {status.state}: {told}", highlight=False, markup=False, soft_wrap=True)


@app.command("show")
def show_run(
    run: RunName,
    store: StoreFolder = RUNS,
    english: Annotated[bool, typer.Option("--english", help="Say in words what each term counts.")] = False,
    as_json: Json = False,
) -> None:
    """Show a run: its value function, its metrics, where it is."""
    from distill.cli.run import show
    from distill.jobs import Store

    found = Store(store).find(run)
    if as_json:
        print_json({"run": str(found.folder), "config": found.config, **found.metrics, "log": found.log})
        return
    show(found, english)


@app.command("compare")
def compare(
    runs: Annotated[list[str], typer.Argument(help="Two or more runs.")],
    store: StoreFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Put runs side by side: settings that differ, metrics, and terms that mean the same on the states."""
    from distill.jobs import Store, compare_runs

    if len(runs) < 2:
        raise InputError("There is nothing to compare with one run; name two or more.")
    found = compare_runs([Store(store).find(name) for name in runs])
    if as_json:
        print_json(found.to_json())
        return
    columns = [str(number) for number in range(1, len(found.names) + 1)]
    for number, name in zip(columns, found.names, strict=True):
        console().print(f"{number}: {name}", highlight=False, markup=False)
    for title, rows in (("Settings that differ", found.settings), ("Metrics", found.metrics)):
        shown = [[key, *(_cell(value) for value in values)] for key, values in rows.items()]
        if shown:
            print_table(title, [title.split()[0].lower(), *columns], shown)
    terms = [[str(one.formula), *(_cell(weight) for weight in one.weights)] for one in found.terms]
    caption = "terms with the same values on the training states of the first run stand in one row"
    print_table("Weights", ["term", *columns], terms, caption)


@app.command("rm")
def remove(
    runs: Annotated[list[str], typer.Argument(help="The runs to remove.")],
    store: StoreFolder = RUNS,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove runs; what they were made from stays in the cache, so they are quickly made again."""
    from distill.jobs import Store

    kept = Store(store)
    found = [kept.find(name) for name in runs]
    for run in found:
        if not yes:
            typer.confirm(f"Remove {run.folder}?", abort=True)
        kept.remove(run)
        console().print(f"removed {run.name}", highlight=False, markup=False)


def verify_run(
    run: RunName,
    store: StoreFolder = RUNS,
    no_execution: Annotated[
        bool, typer.Option("--no-execution", help="Do not find greedy plans again, which takes longest.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a run by its folder alone: evaluate its formulas on its states again and compare all metrics.

    Whether the value function is right in states that the run never saw: `distill verify`.

    Exits with 1 if anything differs.
    """
    from distill.jobs import Store
    from distill.jobs import verify_run as verify

    found = Store(store).find(run)
    with progress_bar("Executing") as progress:
        checks = verify(found, execute=not no_execution, progress=progress)
    wrong = [check for check in checks if not check.agrees]
    if as_json:
        rows = [
            {"what": c.what, "reported": c.reported, "found": c.found, "agrees": c.agrees} for c in checks
        ]
        print_json({"run": str(found.folder), "agrees": not wrong, "checks": rows})
    elif wrong:
        rows_shown = [[check.what, _cell(check.reported), _cell(check.found)] for check in wrong]
        print_table(f"{found.name} does NOT agree", ["what", "reported", "found"], rows_shown)
    else:
        print_table(found.name, ["checked", "agree"], [[len(checks), "all"]])
    if wrong:
        raise typer.Exit(1)


def _mae(run: "Run", split: str) -> str:
    return f"{run.metrics['splits'][split]['mae']:.4f}" if split in run.metrics["splits"] else "–"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
