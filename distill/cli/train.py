"""`distill train`: train a network and write its checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from distill.cli import options
from distill.cli.evaluate import scores_as_json, show_scores
from distill.cli.output import Json, errors, print_json, print_text
from distill.common import InputError, check_format


def train(
    config: Annotated[Path, typer.Argument(help="A YAML file such as configs/training/gripper.yaml.")],
    out: Annotated[
        Path | None, typer.Option(help="The checkpoint to write; CONFIG.safetensors by default.")
    ] = None,
    figure: Annotated[Path | None, options.figure_option("the learning curves")] = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Train a relational GNN on V* and write the checkpoint of the best seed, with its record and scores.

    An interrupted training continues where it stopped; a finished training is not run again. The same config
    gives the same network.

    Example: `distill train configs/training/gripper.yaml --out gripper.safetensors --figure learning.png`.
    """
    from distill.evaluation import evaluate_checkpoint
    from distill.jobs import TrainingConfig, checkpoint_of, train_networks, with_metrics
    from distill.networks import Checkpoint, Epoch, draw_learning

    processes = options.worker_count(workers)
    check_format(figure)
    read = TrainingConfig.read(config)
    target = out or Path(f"{config.stem}.safetensors")
    if target.suffix != ".safetensors":
        raise InputError(f"{target} must end in .safetensors; choose another --out.")
    splits = read.splits()
    sets = options.labelled_states(splits, read.training.reduce, workers)

    def report(seed: int, epoch: Epoch) -> None:
        errors().print(
            f"seed {seed}, epoch {epoch.number}/{read.training.epochs}: loss {epoch.loss:.4f}, "
            f"validation MAE {epoch.validation_mae:.4f}, {epoch.seconds:.0f} s",
            highlight=False,
        )

    networks = train_networks(read, sets, workers=processes, progress=report)
    checkpoint = checkpoint_of(read, networks)
    if target.exists() and Checkpoint.load(target).key != checkpoint.key:
        raise InputError(f"{target} exists and holds another network; choose another --out or remove it.")
    if figure is not None:
        draw_learning({f"seed {one.seed}": one.history for one in networks}, figure)
    scores = evaluate_checkpoint(checkpoint, splits, options.labelled_states(splits, "none", workers))
    with_metrics(checkpoint, scores).save(target)
    if as_json:
        print_json({"checkpoint": str(target), "seed": networks[0].seed, **scores_as_json(scores)})
        return
    show_scores(f"{target.name}: seed {networks[0].seed}, epoch {networks[0].best}", scores)
    print_text(f"checkpoint: {target}")
