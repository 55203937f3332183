"""`distill refit`: add formulas to a value function, remove terms, and fit its weights again."""

from pathlib import Path
from typing import Annotated

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text, stage_bar
from distill.common import MOST_REAL

_SECONDS = 60.0


def refit(
    run: options.RunName,
    add: Annotated[
        list[str] | None, typer.Option("--add", help="A formula to add, in ASCII; may be repeated.")
    ] = None,
    drop: Annotated[
        list[int] | None,
        options.count_option("A term to remove, counted from 1 as in the report; may be repeated.", "--drop"),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Find the shortest function with integer weights that equals V* on all training states.",
        ),
    ] = False,
    pool: Annotated[
        bool, typer.Option("--pool", help="With --exact: also use all other features of the run.")
    ] = False,
    products: Annotated[
        bool, typer.Option("--products", help="With --exact: a term may be the product of two features.")
    ] = False,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=MOST_REAL, help="The time limit of --exact.")
    ] = _SECONDS,
    out: Annotated[
        Path | None, typer.Option(help="The folder of runs for the result, which is stored under refits.")
    ] = None,
    store: options.StoreFolder = options.RUNS,
    as_json: Json = False,
) -> None:
    """Fit the weights of a run's value function again, with formulas added and terms removed.

    The weights have the least absolute error on the training states. With --exact they are integers, and an
    integer programme finds the shortest function. The result has the value function in every form.

    Example: `distill refit gripper-gripper-… --drop 2 --add "#<at^-1>at-robby" --exact`.
    """
    from distill.runs import Request, Store, refit_run

    source = Store(store).find(run)
    request = Request(tuple(add or ()), tuple(sorted(set(drop or ()))), exact, pool, products, seconds)
    with stage_bar() as progress:
        done = refit_run(source, request, out or store, progress)
    result = done.result
    if as_json:
        print_json({"folder": str(done.folder), **result})
        return
    print_text(f"V = {result['value']}")
    rows = [
        [split, new["states"], f"{old['mae']:.4f}", f"{new['mae']:.4f}", old["wrong"], new["wrong"]]
        for (split, old), new in zip(result["before"].items(), result["after"].values(), strict=True)
    ]
    columns = ["split", "states", "MAE before", "MAE after", "wrong before", "wrong after"]
    exactness = "exact on all training states" if result["exact"] else "not exact"
    print_table(f"{result['run']}, fitted again: {exactness}", columns, rows, f"result: {done.folder}")
