"""Training from a config: several seeds, the best network and its scores."""

import queue
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor

from distill.common import CONTEXT, InputError, Settings, cache_file, content_key, process_pool
from distill.evaluation import Evaluation
from distill.jobs.config import read_config, splits_of
from distill.networks import (
    AUTO,
    DEFAULT_FAMILY,
    FAMILY_SETTINGS,
    Architecture,
    Checkpoint,
    Epoch,
    Examples,
    Network,
    Training,
    TrainingResult,
    build_network,
    check_network,
    layers_to_cross,
    quotient_for,
    train,
)
from distill.planning import Split
from distill.structures import DataSet, Options

Progress = Callable[[int, Epoch], None]


@dataclass(frozen=True)
class TrainingConfig:
    """The config of a training.

    Attributes
    ----------
    name : the stem of the config file.
    source : `problem`, or `domain` with `instances` or with `train`, `validation` and `test`.
    network, training : the settings.
    start : a checkpoint of a network with the same weights, with which the training begins.
    """

    name: str
    source: Mapping[str, str]
    network: Architecture
    training: Training
    start: Path | None = None

    @staticmethod
    def read(path: Path) -> "TrainingConfig":
        """Read a YAML file; paths in it are relative to it."""
        network = FAMILY_SETTINGS[DEFAULT_FAMILY]
        kinds: dict[str, type[Settings]] = {"network": network, "training": Training}
        source, sections, files = read_config(path, kinds, ["start"])
        return TrainingConfig(path.stem, source, **sections, start=files.get("start"))

    def splits(self) -> list[Split]:
        """The splits to train on, to validate on and to test on."""
        found = splits_of(self.source, f"The config {self.name}")
        self.check(found)
        return found

    def check(self, splits: list[Split]) -> None:
        """Refuse splits without training or validation instances, and a network that is too large."""
        missing = {"train", "validation"} - {split.name for split in splits}
        if missing:
            raise InputError(
                f"The config {self.name} gives no instances for {' and '.join(sorted(missing))}."
            )
        domain = next((one.domain for split in splits for one in split.instances), None)
        if domain is not None:
            check_network(domain.vocabulary(), self.network)

    def with_layers(self, sets: Mapping[str, DataSet]) -> "TrainingConfig":
        """The config with the number of layers that the states of all splits need, if it is `auto`."""
        if getattr(self.network, "layers", None) != AUTO:
            return self
        batches = (data.structures(states) for data in sets.values() for states in data.slices())
        return replace(self, network=self.network.replace(layers=layers_to_cross(batches)))

    def to_mapping(self) -> dict[str, Any]:
        """The config with all defaults, as plain data; for settings in `added` see `Settings.identity`."""
        start = {} if self.start is None else {"start": self.start.name}
        settings = {"network": self.network.to_mapping(), "training": self.training.identity()}
        return {**self.source, **start, **settings}


def train_networks(
    config: TrainingConfig,
    sets: Mapping[str, DataSet],
    *,
    workers: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[TrainingResult]:
    """Train a network for each seed, the best one first; an interrupted training is resumed.

    Parameters
    ----------
    sets : reduced data sets `train` and `validation`; with `layers: auto`, those of all splits.
    workers : the number of processes.
    cache : the folder of the training states; see `cache_folder`.
    progress : called with the seed after each of its epochs.
    """
    config = config.with_layers(sets)
    chosen = {name: sets[name] for name in ("train", "validation")}
    network = build_network(sets["train"].vocabulary, config.network)
    quotient = quotient_for(network, chosen, Options(), stable=True).quotient
    training, validation = (Examples.of_quotient(network, quotient, split) for split in range(2))
    how: list[Any] = [config.source, config.network.to_mapping(), config.training.of_one_seed()]
    how += [] if network.family == DEFAULT_FAMILY else [network.family]
    start = None if config.start is None else _weights(config.start, network)
    how += [] if config.start is None else [Checkpoint.load(config.start).key]
    key = content_key([how, *(data.key for data in chosen.values())])
    folder = cache_file("train/seeds", key, "", cache)
    first = config.training.seed
    run = partial(_train, network, training, validation, config.training, folder, start)
    seeds = range(first, first + max(1, config.training.seeds))
    if min(workers, len(seeds)) > 1:
        found = _in_parallel(run, seeds, workers, progress)
    else:
        found = [run(seed, partial(progress, seed) if progress else None) for seed in seeds]
    return sorted(found, key=lambda trained: trained.validation_mae)


def _train(
    network: Network,
    training: Examples,
    validation: Examples,
    settings: Training,
    folder: Path,
    start: Mapping[str, Tensor] | None,
    seed: int,
    progress: Callable[[Epoch], None] | None,
) -> TrainingResult:
    file = folder / f"seed-{seed}.safetensors"
    return train(
        network, training, validation, settings, seed=seed, start=start, file=file, progress=progress
    )


def _weights(start: Path, network: Network) -> dict[str, Tensor]:
    """The weights of a checkpoint, for a network that reads the same predicates in the same order."""
    given = Checkpoint.load(start).network
    if given.vocabulary != network.vocabulary:
        raise InputError(f"{start} reads other predicates than the network to train; give another start.")
    weights = given.state_dict()
    try:
        network.untrained(0).with_weights(weights)
    except InputError as error:
        raise InputError(f"{start}: {error}") from error
    return dict(weights)


_epochs: Any = None  # in a worker: the queue for finished epochs


def _set_queue(epochs: Any) -> None:
    global _epochs
    _epochs = epochs


def _report(seed: int, epoch: Epoch) -> None:
    _epochs.put((seed, epoch))


def _run_reporting(
    run: Callable[[int, Callable[[Epoch], None]], TrainingResult], seed: int
) -> TrainingResult:
    return run(seed, partial(_report, seed))


def _in_parallel(
    run: Callable[[int, Any], TrainingResult], seeds: range, workers: int, progress: Progress | None
) -> list[TrainingResult]:
    epochs = CONTEXT.Queue()
    died = (
        "A training process died, most likely for lack of memory; lower the number of workers and run again: "
        "finished epochs are not lost."
    )
    with process_pool(min(workers, len(seeds)), died, _set_queue, epochs) as pool:
        futures = [pool.submit(_run_reporting, run, seed) for seed in seeds]
        while not all(future.done() for future in futures):
            try:
                seed, epoch = epochs.get(timeout=0.2)
            except queue.Empty:
                continue
            if progress:
                progress(seed, epoch)
        return [future.result() for future in futures]


def checkpoint_of(config: TrainingConfig, networks: list[TrainingResult]) -> Checkpoint:
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
    """An epoch as plain data without its duration."""
    return {name: value for name, value in asdict(epoch).items() if name != "seconds"}


def with_metrics(checkpoint: Checkpoint, evaluation: Evaluation) -> Checkpoint:
    """The checkpoint with its scores on each split in the record."""
    metrics = {
        name: {**score.to_json(), "known_within_half": evaluation.known_within_half(name)}
        for name, score in evaluation.splits.items()
    }
    return Checkpoint(checkpoint.network, {**checkpoint.record, "metrics": metrics}, checkpoint.source)
