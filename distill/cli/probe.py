"""`distill probe`: features of a state that can be extracted from a network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, progress_bar
from distill.common import InputError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


def probe(
    checkpoint: options.CheckpointFile,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    states: options.States = None,
    split: options.SplitName = "train",
    features: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file with a column for each feature and a line for each state of `distill data "
            "--reduce wl --out`. By default the features are V* and the number of atoms of each predicate."
        ),
    ] = None,
    seed: Annotated[
        int, options.seed_option("The random seed of the untrained network and of the fitted states.")
    ] = 0,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Test how well a linear map extracts features from each layer and from the readout.

    Each probe is reported with the same probe on an untrained network: a feature that can be extracted from
    both was not learned. The score is 1 for a perfect prediction, and 0 for a constant.

    Example: `distill probe artifacts/checkpoints/gripper.safetensors gripper`.
    """
    from distill.networks import Checkpoint, probe_checkpoint

    loaded = Checkpoint.load(checkpoint)
    splits = options.chosen_splits(problem, domain, instances, split, max_states=max_states, states=states)
    [data] = options.labelled_states(splits, "wl", workers).values()
    given = None if features is None else _read(features, len(data))
    with progress_bar("Probing") as progress:
        rows = probe_checkpoint(loaded, data, given, seed=seed, progress=progress)
    if as_json:
        print_json([row.to_json() for row in rows])
        return
    places = list(dict.fromkeys(row.place for row in rows))
    names = list(dict.fromkeys(row.feature for row in rows))
    shares = {
        (row.feature, row.place): f"{row.trained.share:.2f} ({row.untrained.share:.2f})" for row in rows
    }
    table = [[name, *(shares[name, place] for place in places)] for name in names]
    print_table(
        f"{checkpoint.name}: linear probes, in brackets on an untrained network",
        ["feature", *places],
        table,
        "1: perfect prediction; 0: no better than a constant",
    )


def _read(path: Path, n_states: int) -> "dict[str, NDArray[float64]]":
    import pandas as pd

    try:
        table = pd.read_csv(path).astype(float)
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise InputError(f"Cannot read {path}: {error}; give a CSV file of numbers with a header.") from error
    if len(table) != n_states:
        raise InputError(f"{path} has {len(table)} lines for {n_states} states; give a line for each state.")
    return {str(name): table[name].to_numpy() for name in table.columns}
