"""`distill replay`: the activations of a network on labelled states."""

from pathlib import Path
from typing import Annotated

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text


def replay(
    checkpoint: options.CheckpointFile,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instance: options.InstanceFile = None,
    instances: options.Instances = None,
    train: options.Train = None,
    validation: options.Validation = None,
    test: options.Test = None,
    states: options.States = None,
    split: options.SplitName = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write all activations by layer, object and state to this file, a numpy archive."),
    ] = None,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Evaluate a network on every labelled state, and show the layers with their shapes.

    Objects that the network cannot distinguish share a row. With `--out` all activations are written to an
    archive for `numpy.load`, with the row of each object and each state; see docs/networks.md.

    Example: `distill replay artifacts/checkpoints/gripper.safetensors gripper --split train --out out.npz`.
    """
    import numpy as np

    from distill.networks import Checkpoint, replay_states
    from distill.structures import UNSOLVABLE, V_STAR

    loaded = Checkpoint.load(checkpoint)
    folders = {"train": train, "validation": validation, "test": test}
    splits = options.chosen_splits(
        problem,
        domain,
        instances,
        split,
        max_states=max_states,
        folders=folders,
        instance=instance,
        states=states,
    )
    sets = options.labelled_states(splits, "exact", workers)
    activations = replay_states(loaded, sets)
    files = {}
    if out is not None:
        files["activations"] = out / "activations.npz" if out.is_dir() else out
        activations.save(files["activations"])
    quotient = activations.built.quotient
    v_star = quotient.labels[V_STAR]
    solvable = v_star != UNSOLVABLE
    error = np.abs(activations.replay.value - v_star)[solvable]
    weight = quotient.multiplicity[solvable]
    embeddings = activations.replay.embeddings
    sites = [
        {"name": site.name, "about": site.about, "shape": list(table.shape)}
        for site, table in activations.replay.sites.items()
    ]
    answer = {
        "states": int(quotient.multiplicity.sum()),
        "state_rows": quotient.n_state_rows,
        "rows": [len(table) for table in embeddings],
        "size": embeddings[-1].shape[1] if embeddings else 0,
        "sites": sites,
        "mae": float(np.average(error, weights=weight)) if weight.sum() else None,
        "files": {name: str(file) for name, file in files.items()},
    }
    if as_json:
        print_json(answer)
        return
    table = [[site["name"], site["about"], " × ".join(map(str, site["shape"]))] for site in sites]
    mae = "" if answer["mae"] is None else f"; mean |V − V*| {answer['mae']:.4f}"
    caption = f"{answer['states']} states in {answer['state_rows']} rows{mae}"
    print_table(f"{checkpoint.name}: activations by layer", ["layer", "about", "shape"], table, caption)
    for name, file in files.items():
        print_text(f"{name}: {file}")
