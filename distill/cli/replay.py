"""`distill replay`: what a network computes on labelled states, kept for distillation."""

from pathlib import Path
from typing import Annotated

import typer

from distill.cli.evaluate import CheckpointFile
from distill.cli.output import Json, console, print_json, print_table
from distill.cli.source import (
    DomainFile,
    InstanceFile,
    Instances,
    MaxStates,
    Problem,
    SplitName,
    Test,
    Train,
    Validation,
    Workers,
    chosen_splits,
    expansion_settings,
    labelled_states,
)


def replay(
    checkpoint: CheckpointFile,
    problem: Problem = None,
    domain: DomainFile = None,
    instance: InstanceFile = None,
    instances: Instances = None,
    train: Train = None,
    validation: Validation = None,
    test: Test = None,
    split: SplitName = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write quotient.npz and replay.npz into this folder.")
    ] = None,
    max_states: MaxStates = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Run a network on every labelled state and keep all it computes: embeddings by depth, pooling, V.

    Objects that the network cannot tell apart are one row. The result is kept by content: the second call is
    instant, and every distillation of this network on these states reads it.

    Example: `distill replay artifacts/checkpoints/gripper.safetensors gripper --split train`.
    """
    import numpy as np

    from distill.jobs import replay_of
    from distill.models import Checkpoint

    loaded = Checkpoint.load(checkpoint)
    folders = {"train": train, "validation": validation, "test": test}
    settings = expansion_settings(max_states)
    splits = chosen_splits(problem, domain, instances, folders, None, split, settings, instance)
    sets = labelled_states(splits, "exact", workers)
    found = replay_of(loaded, sets)
    files = {"quotient": found.quotient_file, "replay": found.replay_file}
    if out is not None:
        files = {"quotient": out / "quotient.npz", "replay": out / "replay.npz"}
        found.quotient.save(files["quotient"])
        found.replay.save(files["replay"])
    solvable = found.quotient.v_star >= 0
    error = np.abs(found.replay.value - found.quotient.v_star)[solvable]
    weight = found.quotient.multiplicity[solvable]
    rows = [len(embeddings) for embeddings in found.replay.embeddings]
    answer = {
        "states": int(found.quotient.multiplicity.sum()),
        "state_rows": len(found.quotient.v_star),
        "rows": rows,
        "size": loaded.network.architecture.size,
        "mae": float(np.average(error, weights=weight)) if weight.sum() else None,
        "files": {name: str(file) for name, file in files.items()},
    }
    if as_json:
        print_json(answer)
        return
    table = [[depth, count] for depth, count in enumerate(rows)]
    mae = "" if answer["mae"] is None else f"; mean |V − V*| {answer['mae']:.4f}"
    caption = f"{answer['states']} states in {answer['state_rows']} rows{mae}"
    title = f"{checkpoint.name}: embeddings of {answer['size']} numbers by depth"
    print_table(title, ["depth", "rows"], table, caption)
    for name, file in files.items():
        console().print(f"{name}: {file}", soft_wrap=True, highlight=False)
