"""`distill train`: from a config to a checkpoint."""

import os
from pathlib import Path
from typing import Annotated

import typer

from distill.cli.evaluate import scores_as_json, show_scores
from distill.cli.output import Json, console, errors, print_json
from distill.cli.source import Workers, check_workers, labelled_states
from distill.errors import InputError
from distill.figures import check_format


def train(
    config: Annotated[Path, typer.Argument(help="A YAML file such as configs/gripper.yaml.")],
    out: Annotated[
        Path | None, typer.Option(help="The checkpoint to write; CONFIG.safetensors if left out.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the learning curves into this file (.png, .svg, .pdf).")
    ] = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Train a relational GNN on V* and write the checkpoint of the best seed, with its record and scores.

    An interrupted training goes on where it stopped; a finished one is not done again. The same config gives
    the same network.

    Example: `distill train configs/gripper.yaml --out gripper.safetensors --figure learning.png`.
    """
    from distill.jobs import TrainingConfig, checkpoint_of, evaluate_checkpoint, train_networks, with_metrics
    from distill.models import Checkpoint, Epoch
    from distill.models.figures import draw_learning

    check_workers(workers)
    if figure is not None:
        check_format(figure)
    read = TrainingConfig.read(config)
    target = out or Path(f"{config.stem}.safetensors")
    if target.suffix != ".safetensors":
        raise InputError(f"{target} must end in .safetensors; choose another --out.")
    splits = read.splits()
    sets = labelled_states(splits, read.training.reduce, workers)

    def report(seed: int, epoch: Epoch) -> None:
        errors().print(
            f"seed {seed}, epoch {epoch.number}/{read.training.epochs}: loss {epoch.loss:.4f}, "
            f"validation MAE {epoch.validation_mae:.4f}, {epoch.seconds:.0f} s",
            highlight=False,
        )

    networks = train_networks(read, sets, workers=workers or os.cpu_count() or 1, progress=report)
    found = checkpoint_of(read, networks)
    if target.exists() and Checkpoint.load(target).key != found.key:
        raise InputError(f"{target} exists and holds another network; choose another --out or remove it.")
    if figure is not None:
        draw_learning({f"seed {one.seed}": one.history for one in networks}, figure)
    scores = evaluate_checkpoint(found, splits, labelled_states(splits, "none", workers))
    with_metrics(found, scores).save(target)
    if as_json:
        print_json({"checkpoint": str(target), "seed": networks[0].seed, **scores_as_json(scores)})
        return
    show_scores(f"{target.name}: seed {networks[0].seed}, epoch {networks[0].best}", scores)
    console().print(f"checkpoint: {target}", soft_wrap=True, highlight=False)
