"""`distill refit`: a run's value function with formulas added or removed, and its weights fitted again."""

from pathlib import Path
from typing import Annotated

import typer

from distill.cli.output import Json, console, print_json, print_table, stage_bar
from distill.cli.runs import RUNS, RunName, StoreFolder

_SECONDS = 60.0


def refit(
    run: RunName,
    add: Annotated[
        list[str] | None, typer.Option("--add", help="A formula to add, as it is typed; may be given again.")
    ] = None,
    drop: Annotated[
        list[int] | None,
        typer.Option(
            "--drop", min=1, help="A term to remove, counted from 1 as in the report; may be given again."
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="The shortest function with whole weights that meets all training states."
        ),
    ] = False,
    pool: Annotated[
        bool, typer.Option("--pool", help="With --exact: all other features of the run may be used, too.")
    ] = False,
    products: Annotated[
        bool, typer.Option("--products", help="With --exact: a term may be the product of two features.")
    ] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long --exact may look.")] = _SECONDS,
    out: Annotated[
        Path | None, typer.Option(help="The folder of runs that keeps the result, under refits.")
    ] = None,
    store: StoreFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Fit the weights of a run's value function again, with formulas added and terms removed.

    Weights have the least absolute error on the training states; with --exact they are whole, and an integer
    programme looks for the shortest function. The result is kept with the value function in every form.

    Example: `distill refit gripper-gripper-… --drop 2 --add "#<at^-1>at-robby" --exact`.
    """
    from distill.jobs import Store
    from distill.jobs.refitting import Request, refit_run

    found = Store(store).find(run)
    request = Request(tuple(add or ()), tuple(sorted(set(drop or ()))), exact, pool, products, seconds)
    with stage_bar() as told:
        done = refit_run(found, request, out or store, told)
    result = done.result
    if as_json:
        print_json({"folder": str(done.folder), **result})
        return
    console().print(f"V = {result['value']}", highlight=False, markup=False, soft_wrap=True)
    rows = [
        [split, new["states"], f"{old['mae']:.4f}", f"{new['mae']:.4f}", old["wrong"], new["wrong"]]
        for (split, old), new in zip(result["before"].items(), result["after"].values(), strict=True)
    ]
    columns = ["split", "states", "MAE before", "MAE after", "wrong before", "wrong after"]
    told_exact = "exact on all training states" if result["exact"] else "not exact"
    print_table(f"{result['run']}, fitted again: {told_exact}", columns, rows, f"Kept in {done.folder}")
