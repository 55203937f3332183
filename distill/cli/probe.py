"""`distill probe`: features of a state that can be extracted from a network."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli import options
from distill.cli.output import Json, decimal, print_json, print_table, progress_bar
from distill.common import InputError, check_format, shown

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from distill.logic import Number
    from distill.networks import ProbeRow
    from distill.structures import DataSet

_WRITTEN = 300  # symbols of a term that is named by its formula


def probe(
    checkpoint: options.CheckpointFile,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    states: options.States = None,
    split: options.SplitName = "train",
    feature: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMULA",
            help="A formula to probe, in any notation, or one by name such as @blocks-clear/B[2]; may be "
            "repeated. A formula about objects is counted. By default the features are V* and the number of "
            "atoms of each predicate.",
        ),
    ] = None,
    features_of: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Probe all terms of the value function of this run."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file with a column for each feature and a line for each state of `distill data "
            "--reduce wl --out`."
        ),
    ] = None,
    store: options.StoreFolder = options.RUNS,
    figure: Annotated[Path | None, options.figure_option("the scores, features by layers,")] = None,
    seed: Annotated[
        int, options.seed_option("The random seed of the untrained network and of the fitted states.")
    ] = 0,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Test how well a linear map extracts features from each layer, the readout and the pool vector.

    The map is fitted to half of the states and tested on the others. Each probe is reported with the same
    probe on an untrained network: a feature that can be extracted from both was not learned. The score is 1
    for a perfect prediction, and 0 for a constant.

    Examples: `distill probe artifacts/checkpoints/gripper.safetensors gripper`,
    `distill probe artifacts/checkpoints/blocks-clear.safetensors blocks-clear --feature "<on+>clear_G"
    --feature "@blocks-clear/B[2]"`.
    """
    from dataclasses import asdict

    from distill.networks import Checkpoint, draw_probes, known_places, probe_checkpoint

    check_format(figure)
    loaded = Checkpoint.load(checkpoint)
    terms = dict(_terms(features_of, store)) if features_of is not None else {}
    splits = options.chosen_splits(problem, domain, instances, split, max_states=max_states, states=states)
    [data] = options.labelled_states(splits, "wl", workers).values()
    given = None if features is None else _read(features, len(data))
    if feature or terms:
        given = {**(given or {}), **_evaluated(feature or [], terms, data)}
    with progress_bar("Probing") as progress:
        rows = probe_checkpoint(loaded, data, given, seed=seed, progress=progress)
    if figure is not None:
        draw_probes(rows, figure)
    if as_json:
        known = [asdict(one) for one in known_places(rows)]
        print_json({"probes": [row.to_json() for row in rows], "known": known})
    else:
        _show(checkpoint.name, rows)


def _terms(run: str, store: Path) -> "Iterator[tuple[str, Number]]":
    """The terms of a run, by name, in the order in which they are written."""
    from distill.explanations import ordered_terms
    from distill.logic import Constant
    from distill.runs import Store

    terms = ordered_terms(Store(store).find(run).value_function.value)
    for place, (_, number) in enumerate(terms, 1):
        if not isinstance(number, Constant):
            size = number.size
            yield str(number) if size <= _WRITTEN else f"term {place}: {size:,} symbols", number


def _evaluated(
    texts: Sequence[str], terms: "dict[str, Number]", data: "DataSet"
) -> "dict[str, NDArray[float64]]":
    """The values of formulas in all states, by name; an error names the formula."""
    import numpy as np

    from distill.explanations import as_number
    from distill.logic import Evaluator, read_formula

    evaluator, largest = Evaluator(data.structures(goal_marking=True)), int(data.n_objects.max())
    values = {}
    for name in (*texts, *terms):
        try:
            number = terms[name] if name in terms else as_number(read_formula(name, largest))
            values[name] = np.asarray(evaluator.number(number), dtype=np.float64)
        except InputError as error:
            raise InputError(f"The feature {shown(name)!r}: {error}") from error
    return values


def _read(path: Path, n_states: int) -> "dict[str, NDArray[float64]]":
    import numpy as np
    import pandas as pd

    try:
        table = pd.read_csv(path).astype(float)
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise InputError(f"Cannot read {path}: {error}; give a CSV file of numbers with a header.") from error
    if len(table) != n_states:
        raise InputError(f"{path} has {len(table)} lines for {n_states} states; give a line for each state.")
    if not np.isfinite(table.to_numpy()).all():
        raise InputError(f"{path} has an entry without a number; give a number for each state and feature.")
    return {str(name): table[name].to_numpy() for name in table.columns}


def _show(name: str, rows: "Sequence[ProbeRow]") -> None:
    from distill.networks import KNOWN, known_places

    found = known_places(rows)
    for one in found:
        table = [
            [row.place, *(decimal(error) for error in _errors(row)), decimal(row.trained.share, ".2f")]
            for row in rows
            if row.feature == one.feature
        ]
        columns = ["place", "train", "test", "untrained: train", "test", "score"]
        constant = f"mean absolute errors of linear probes; a constant has {one.constant_mae:.4f} on test"
        print_table(one.feature, columns, table, constant)
    print_table(
        f"{name}: where a feature is known first",
        ["feature", "network", "untrained network"],
        [[one.feature, one.trained or "–", one.untrained or "–"] for one in found],
        f"known: the test error is at most {1 - KNOWN:.0%} of that of a constant",
    )


def _errors(row: "ProbeRow") -> tuple[float, ...]:
    return row.trained.train_mae, row.trained.mae, row.untrained.train_mae, row.untrained.mae
