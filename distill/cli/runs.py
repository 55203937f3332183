"""`distill runs`: list, show, compare and remove runs; and `distill verify-run`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import Json, decimal, print_json, print_table, print_text, progress_bar
from distill.common import InputError

app = typer.Typer(
    help="List, show, compare and remove runs.", no_args_is_help=True, rich_markup_mode="markdown"
)


@app.command("list")
def list_runs(
    store: options.StoreFolder = options.RUNS,
    problem: Annotated[str | None, typer.Option(help="Only runs on this problem class or domain.")] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Only runs that are exact on all training states.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the runs in a folder with their main metrics, and the jobs that failed or have not finished.

    A run whose files are damaged is listed with the reason.

    Example: `distill runs list --problem gripper --exact`.
    """
    from distill.runs import Store

    folder = Store(store)
    every, damaged = folder.summaries()
    runs = [run for run in every if problem in (None, run.problem) and (run.exact or not exact)]
    runs.sort(key=lambda run: run.name)
    jobs = folder.jobs()
    if as_json:
        rows_json = [{"run": run.name, "about": run.problem, **run.metrics} for run in runs]
        answer = {"runs": rows_json, "jobs": {name: status.state for name, status in jobs.items()}}
        print_json({**answer, **({"damaged": damaged} if damaged else {})})
        return
    rows = [
        [
            run.name,
            run.metrics["pool"],
            "yes" if run.exact else "no",
            *(decimal(run.mae.get(split)) for split in ("train", "test")),
            run.features,
            run.size,
        ]
        for run in runs
    ]
    columns = ["run", "pool", "exact", "train", "test", "terms", "size"]
    if rows:
        caption = "train, test: mean absolute error; exact: on all training states"
        print_table(f"Runs in {store}", columns, rows, caption, names=True)
    else:
        hint = (
            "no run matches the options"
            if problem or exact
            else "make one with `distill run configs/runs/gripper.yaml`"
        )
        print_text(f"No runs in {store}; {hint}.")
    for outdated in filter(None, (run.outdated for run in runs)):
        print_text(outdated)
    for name, reason in damaged.items():
        print_text(f"{name}: damaged: {reason}")
    for name, status in jobs.items():
        detail = status.error if status.state == "failed" else f"last stage {status.stage}"
        print_text(f"{name}: {status.state}: {detail}")


@app.command("show")
def show_run(
    run: options.RunName,
    store: options.StoreFolder = options.RUNS,
    english: options.English = False,
    as_json: Json = False,
) -> None:
    """Show the value function, the metrics and the folder of a run."""
    from distill.cli.run import show
    from distill.runs import Store

    source = Store(store).find(run)
    if as_json:
        print_json({"run": str(source.folder), "config": source.config, **source.metrics, "log": source.log})
        return
    show(source, english)


@app.command("compare")
def compare(
    runs: Annotated[list[str], typer.Argument(help="Two or more runs.")],
    store: options.StoreFolder = options.RUNS,
    figure: Annotated[
        Path | None, options.figure_option("box plots of V by V*, for the runs and their networks")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare runs: settings that differ, metrics, and terms with the same values."""
    from distill.common import check_format
    from distill.runs import Store, compare_runs, draw_comparison

    if len(runs) < 2:
        raise InputError("A comparison needs two or more runs.")
    check_format(figure)
    found = [Store(store).find(name) for name in runs]
    comparison = compare_runs(found)
    if figure is not None:
        draw_comparison(found, figure)
    if as_json:
        print_json(comparison.to_json())
        return
    columns = [str(number) for number in range(1, len(comparison.names) + 1)]
    for number, name in zip(columns, comparison.names, strict=True):
        print_text(f"{number}: {name}")
    for title, rows in (("Settings that differ", comparison.settings), ("Metrics", comparison.metrics)):
        shown = [[key, *(_cell(value) for value in values)] for key, values in rows.items()]
        if shown:
            print_table(title, [title.split()[0].lower(), *columns], shown)
    terms = [[str(one.formula), *(_cell(weight) for weight in one.weights)] for one in comparison.terms]
    caption = "terms with the same values on the training states of the first run share a row"
    print_table("Weights", ["term", *columns], terms, caption)


@app.command("rm")
def remove(
    runs: Annotated[list[str], typer.Argument(help="The runs to remove.")],
    store: options.StoreFolder = options.RUNS,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove runs, damaged or not. Their intermediate results stay in the cache.

    A folder is removed only if it is a run of the store and contains nothing else.
    """
    from distill.runs import Store

    folder, places, refused = Store(store), [], []
    for name in dict.fromkeys(runs):
        try:
            places.append(folder.removable(name))
        except InputError as error:
            refused.append(str(error))
    for place in dict.fromkeys(places):
        if not yes:
            typer.confirm(f"Remove {place}?", abort=True)
        folder.remove(place)
        print_text(f"removed {place.name}")
    if refused:
        raise InputError(" ".join(refused))


def verify_run(
    run: options.RunName,
    store: options.StoreFolder = options.RUNS,
    no_execution: Annotated[
        bool, typer.Option("--no-execution", help="Do not execute greedy plans again, which takes longest.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the files of a run: evaluate its formulas on its states again and compare all metrics.

    `distill verify` checks the value function in states that are not part of the run.

    The exit code is 1 if a metric differs.
    """
    from distill.runs import Store, verify_run as verify

    source = Store(store).find(run)
    with progress_bar("Executing") as progress:
        checks = verify(source, execute=not no_execution, progress=progress)
    wrong = [check for check in checks if not check.agrees]
    if as_json:
        rows = [
            {"what": c.what, "reported": c.reported, "found": c.computed, "agrees": c.agrees} for c in checks
        ]
        print_json({"run": str(source.folder), "agrees": not wrong, "checks": rows})
    elif wrong:
        rows_shown = [[check.what, _cell(check.reported), _cell(check.computed)] for check in wrong]
        print_table(f"{source.name} does NOT agree", ["what", "reported", "found"], rows_shown)
    else:
        print_table(source.name, ["checked", "agree"], [[len(checks), "all"]])
    if wrong:
        raise typer.Exit(1)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
