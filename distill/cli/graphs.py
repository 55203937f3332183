"""`distill graphs`: classify graphs by formulas."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text, stage_bar
from distill.common import MOST_SEED, InputError
from distill.graphs import Classification

if TYPE_CHECKING:
    from distill.graphs import GraphSet, Validation
    from distill.logic import Truth

_SYNTHETIC = "@"
_LONGEST = 200  # symbols of a formula that is printed on one line
_SCORES = ("constant", "network", "formulas", "agreement")
_DEFAULTS = Classification()


def _option(name: str, panel: str | None = None) -> Any:
    """Declare an option for a setting; its description has the default."""
    return options.number_of(Classification, name, show_default=False, rich_help_panel=panel)


def graphs(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="A folder with graphs in the TU format: NAME_A.txt, NAME_graph_indicator.txt, "
            "NAME_graph_labels.txt and, if nodes have labels, NAME_node_labels.txt. Or a synthetic set of "
            "Pluska et al. 2024: @emlc0, @emlc1 or @emlc2.",
        ),
    ],
    network: Annotated[
        bool,
        typer.Option(help="Train a network and distil it; otherwise, fit the trees to the classes alone."),
    ] = True,
    folds: Annotated[int, _option("folds")] = _DEFAULTS.folds,
    seed: Annotated[int, options.seed_option("The first seed of graphs, folds, networks and samples.")] = 0,
    seeds: Annotated[int, options.count_option("Repeat all with so many seeds.", most=1000)] = 1,
    number: Annotated[
        int,
        options.count_option("The number of graphs of a synthetic set.", "--graphs", least=20, most=100_000),
    ] = 5000,
    layers: Annotated[int, _option("layers")] = _DEFAULTS.layers,
    size: Annotated[int, _option("size")] = _DEFAULTS.size,
    epochs: Annotated[int, _option("epochs")] = _DEFAULTS.epochs,
    width: Annotated[int, _option("width", "Trees")] = _DEFAULTS.width,
    sample: Annotated[int, _option("sample", "Trees")] = _DEFAULTS.sample,
    depth: Annotated[int, _option("depth", "Trees")] = _DEFAULTS.depth,
    final_depth: Annotated[int, _option("final_depth", "Trees")] = _DEFAULTS.final_depth,
    as_json: Json = False,
) -> None:
    """Distil a classifier of graphs into a formula of C2 for each class, and report accuracies.

    A small relational GNN is trained on the classes, and an IDT (Pluska et al. 2024) is fitted to its layers.
    Accuracies are those of a cross-validation. The printed formulas are fitted to all graphs.

    Examples: `distill graphs MUTAG`, `distill graphs @emlc1 --graphs 1000 --seeds 5 --no-network`.
    """
    from distill.graphs import cross_validate

    if seed + seeds - 1 > MOST_SEED:
        raise InputError(f"--seed and --seeds reach beyond {MOST_SEED}, the largest seed; lower them.")
    settings = Classification(
        folds=folds,
        layers=layers,
        size=size,
        epochs=epochs,
        width=width,
        sample=sample,
        depth=depth,
        final_depth=final_depth,
    )
    found = []
    with stage_bar() as progress:
        for one in range(seed, seed + seeds):
            data = _read(source, number, one)

            def report(done: int, total: int, one: int = one) -> None:
                progress(f"Seed {one}", done, total)

            found.append(cross_validate(data, settings, network=network, seed=one, progress=report))
    if as_json:
        print_json(_answer(data, found))
    else:
        _show(data, found)


def _read(source: str, number: int, seed: int) -> "GraphSet":
    from distill.graphs import read_graphs, synthetic_graphs

    if source.startswith(_SYNTHETIC):
        return synthetic_graphs(source.removeprefix(_SYNTHETIC), number, seed)
    return read_graphs(Path(source))


def _answer(data: "GraphSet", found: "list[Validation]") -> dict[str, Any]:
    from dataclasses import asdict

    answers = [
        {
            "seed": one.seed,
            "folds": [asdict(fold) for fold in one.folds],
            "mean": {score: one.mean(score) for score in _SCORES},
            "formulas": {name: _text(formula) for name, formula in one.formulas.items()},
        }
        for one in found
    ]
    known = {} if data.truth is None else {"truth": str(data.truth)}
    return {"name": data.name, "graphs": len(data), "classes": list(data.classes), **known, "seeds": answers}


def _text(formula: "Truth") -> str:
    """A formula; a long one with definitions of its parts."""
    from distill.logic import Indicator, write_defined

    return str(formula) if formula.size <= _LONGEST else write_defined(Indicator(formula))


def _show(data: "GraphSet", found: "list[Validation]") -> None:
    import numpy as np

    rows = [[one.seed, *(_score(one, score) for score in _SCORES)] for one in found]
    sizes = np.bincount(data.label, minlength=len(data.classes))
    counts = ", ".join(f"{n} of class {name}" for n, name in zip(sizes, data.classes, strict=True))
    # Each seed has a synthetic set of its own.
    same = data.truth is None or len(found) == 1
    print_table(
        f"{data.name}: accuracy on held-out graphs, mean and standard deviation of "
        f"{len(found[0].folds)} folds",
        ["seed", "most frequent class", "network", "formulas", "agreement of both"],
        rows,
        f"{len(data)} graphs: {counts}" if same else f"{len(data)} graphs for each seed",
    )
    if data.truth is not None:
        print_text(f"Class 1 is defined by {data.truth}\n")
    for one in found:
        print_text(f"Formulas of seed {one.seed}, fitted to all graphs:")
        for name, formula in one.formulas.items():
            defined = ", as V with definitions" if formula.size > _LONGEST else ""
            print_text(f"class {name}{defined}:\n{_text(formula)}\n")
        missing = [name for name in data.classes if name not in one.formulas]
        if missing:
            print_text(f"Class {', '.join(missing)} is never predicted; a greater --final-depth may help.")


def _score(one: "Validation", score: str) -> str:
    mean, deviation = one.mean(score), one.deviation(score)
    return "–" if mean is None else f"{mean:.3f} ± {deviation:.3f}"
