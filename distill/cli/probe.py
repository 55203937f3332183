"""`distill probe`: which features of a state can be read from a network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli.evaluate import CheckpointFile
from distill.cli.output import Json, print_json, print_table, progress_bar
from distill.cli.source import (
    DomainFile,
    Instances,
    MaxStates,
    Problem,
    SplitName,
    Workers,
    chosen_splits,
    expansion_settings,
    labelled_states,
)
from distill.errors import InputError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


def probe(
    checkpoint: CheckpointFile,
    problem: Problem = None,
    domain: DomainFile = None,
    instances: Instances = None,
    split: SplitName = "train",
    features: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file: a column for each feature, a line for each state of `distill data --reduce wl "
            "--out`. Otherwise V* and the number of atoms of each predicate."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the untrained network, and of which states are fitted.")] = 0,
    max_states: MaxStates = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Test how well features can be read, by a linear map, from each layer and from the readout.

    Each probe stands beside the same one on an untrained network: what that reads too was not learned. 1 is
    a perfect reading, 0 is no better than a constant.

    Example: `distill probe artifacts/checkpoints/gripper.safetensors gripper`.
    """
    from distill.jobs import probe_checkpoint
    from distill.models import Checkpoint

    loaded = Checkpoint.load(checkpoint)
    splits = chosen_splits(problem, domain, instances, {}, None, split, expansion_settings(max_states))
    [data] = labelled_states(splits, "wl", workers).values()
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
        f"{checkpoint.name}: what a linear map reads, in brackets from an untrained network",
        ["feature", *places],
        table,
        "1 is a perfect reading, 0 is no better than a constant",
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
