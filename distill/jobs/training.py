"""From a config to a trained checkpoint: data, several seeds, the best network and its scores."""

import queue
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from distill.errors import InputError
from distill.jobs.config import read_config, splits_of
from distill.jobs.evaluation import Evaluation
from distill.jobs.quotient import build_quotient_of
from distill.models import Architecture, Checkpoint, Epoch, Examples, Trained, Training, train
from distill.planning import (
    DataSet,
    Split,
)
from distill.planning.cache import cache_folder, content_key
from distill.processes import CONTEXT, process_pool
from distill.structures import Vocabulary

Progress = Callable[[int, Epoch], None]


@dataclass(frozen=True)
class TrainingConfig:
    """What to train on, and how.

    Attributes
    ----------
    name : of the config file.
    source : `problem`, or `domain` with `instances` or with `train`, `validation` and `test`.
    network : the architecture.
    training : the settings.
    """

    name: str
    source: Mapping[str, str]
    network: Architecture
    training: Training

    @staticmethod
    def read(path: Path) -> "TrainingConfig":
        """Read a YAML file; paths in it are relative to it."""
        source, sections, _ = read_config(path, {"network": Architecture, "training": Training})
        return TrainingConfig(path.stem, source, **sections)

    def splits(self) -> list[Split]:
        """The splits to train on, to validate on and to test on."""
        found = splits_of(self.source, f"The config {self.name}")
        self.check(found)
        return found

    def check(self, splits: list[Split]) -> None:
        """Refuse splits that nothing can be trained on."""
        missing = {"train", "validation"} - {split.name for split in splits}
        if missing:
            raise InputError(
                f"The config {self.name} gives no instances for {' and '.join(sorted(missing))}."
            )

    def to_mapping(self) -> dict[str, Any]:
        """The config with all defaults, as plain data."""
        return {
            **self.source,
            "network": self.network.to_mapping(),
            "training": self.training.to_mapping(),
        }


def train_networks(
    config: TrainingConfig,
    sets: Mapping[str, DataSet],
    *,
    workers: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[Trained]:
    """Train a network for each seed, the best one first; an interrupted training goes on where it stopped.

    Parameters
    ----------
    sets : reduced data sets `train` and `validation`.
    workers : the number of processes.
    cache : where the state of each training is kept; see `cache_folder`.
    progress : called with the seed after each of its epochs.
    """
    chosen = {name: sets[name] for name in ("train", "validation")}
    marking = config.network.goal_marking
    vocabulary = sets["train"].vocabulary.marked() if marking else sets["train"].vocabulary
    if not config.network.nullary:
        vocabulary = Vocabulary(predicate for predicate in vocabulary if predicate.arity)
    quotient = build_quotient_of(chosen, goal_marking=marking).quotient
    training, validation = (Examples.of_quotient(quotient, vocabulary, split) for split in range(2))
    how = [config.source, config.network.to_mapping(), config.training.of_one_seed()]
    key = content_key([how, *(data.key for data in chosen.values())])
    folder = (cache or cache_folder()) / "training" / key
    first = config.training.seed
    run = partial(_train, vocabulary, config.network, training, validation, config.training, folder)
    seeds = range(first, first + max(1, config.training.seeds))
    if min(workers, len(seeds)) > 1:
        found = _in_parallel(run, seeds, workers, progress)
    else:
        found = [run(seed, partial(progress, seed) if progress else None) for seed in seeds]
    return sorted(found, key=lambda trained: trained.validation_mae)


def _train(
    vocabulary: Vocabulary,
    architecture: Architecture,
    training: Examples,
    validation: Examples,
    settings: Training,
    folder: Path,
    seed: int,
    progress: Callable[[Epoch], None] | None,
) -> Trained:
    file = folder / f"seed-{seed}.safetensors"
    return train(
        vocabulary,
        architecture,
        training,
        validation,
        settings,
        seed=seed,
        file=file,
        progress=progress,
    )


_told: Any = None  # in a worker: where epochs are reported


def _listen(told: Any) -> None:
    global _told
    _told = told


def _report(seed: int, epoch: Epoch) -> None:
    _told.put((seed, epoch))


def _run_reporting(run: Callable[[int, Callable[[Epoch], None]], Trained], seed: int) -> Trained:
    return run(seed, partial(_report, seed))


def _in_parallel(
    run: Callable[[int, Any], Trained], seeds: range, workers: int, progress: Progress | None
) -> list[Trained]:
    told = CONTEXT.Queue()
    died = (
        "A training process died, most likely for want of memory; lower the number of workers and run again: "
        "finished epochs are kept."
    )
    with process_pool(min(workers, len(seeds)), died, _listen, told) as pool:
        futures = [pool.submit(_run_reporting, run, seed) for seed in seeds]
        while not all(future.done() for future in futures):
            try:
                seed, epoch = told.get(timeout=0.2)
            except queue.Empty:
                continue
            if progress:
                progress(seed, epoch)
        return [future.result() for future in futures]


def checkpoint_of(config: TrainingConfig, networks: list[Trained]) -> Checkpoint:
    """The checkpoint of the best network, with the record of its training."""
    best = networks[0]
    record = {
        "config": config.to_mapping(),
        "seed": best.seed,
        "best_epoch": best.best,
        "history": [_without_time(epoch) for epoch in best.history],
        "seeds": [{"seed": one.seed, "validation_mae": one.validation_mae} for one in networks],
    }
    return Checkpoint(best.network, record)


def _without_time(epoch: Epoch) -> dict[str, Any]:
    """An epoch as plain data; how long it took is no part of what was trained."""
    return {name: value for name, value in asdict(epoch).items() if name != "seconds"}


def with_metrics(checkpoint: Checkpoint, evaluation: Evaluation) -> Checkpoint:
    """The checkpoint with its scores on each split in the record."""
    metrics = {
        name: {**score.to_json(), "known_within_half": evaluation.known_within_half(name)}
        for name, score in evaluation.splits.items()
    }
    return Checkpoint(checkpoint.network, {**checkpoint.record, "metrics": metrics}, checkpoint.source)
