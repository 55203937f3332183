"""The stages of a job, each stored under a key made from all its inputs.

data → train → replay → distil → regress → evaluate; the last stage, export, writes the run. Keys are known
before any work is done. A stage that has finished is not run again, unless its file is damaged.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from distill.common import (
    KEY_BASE,
    STAGES,
    InputError,
    cache_file,
    cache_folder,
    content_key,
    content_of,
    file_lock,
    open_regular,
)
from distill.distillation import (
    DistillationResult,
    ReadableExtractor,
    RidtFeatures,
    Sample,
    check_distillation,
    find_features,
    fit_features,
    known_rows,
    marks_goals,
    take_sample,
)
from distill.evaluation import evaluate, fidelity, greedy_policy
from distill.jobs.run_config import RunConfig
from distill.jobs.training import TrainingConfig, checkpoint_of, train_networks
from distill.networks import AUTO, Checkpoint, Epoch, Predictions, compute_predictions
from distill.planning import Split, data_key, prepare_reduced
from distill.runs import EvaluationResult, StageRecord, metrics_of
from distill.structures import DataSet, Quotient

Progress = Callable[[str, int, int], None]
Result = TypeVar("Result")


@dataclass(eq=False)
class Stages:
    """The stages of one config.

    Attributes
    ----------
    config : the config of the run.
    workers : the number of processes.
    cache : the folder of results; see `cache_folder`.
    progress : called with the stage, the number of finished steps and of all steps.
    records : the records of all stages, in order.
    """

    config: RunConfig
    workers: int = 1
    cache: Path = field(default_factory=cache_folder)
    progress: Progress = lambda stage, done, total: None
    records: list[StageRecord] = field(default_factory=list)

    @cached_property
    def splits(self) -> list[Split]:
        """The splits to learn from and to evaluate on."""
        return self.config.splits()

    @cached_property
    def keys(self) -> dict[str, str | None]:
        """The key of each stage; None for the training without a network."""
        config, settings = self.config, self.config.distillation
        data = content_key([KEY_BASE, [[split.name, data_key(split, "none")] for split in self.splits]])
        train = self._network_key(data)
        stable = ", stable rows" if settings.needs_stable_rows else ""
        sampled: Any = settings.of_stage("replay") if settings.is_readable else "all training states" + stable
        replay = content_key(["replay", data, train, sampled])
        trees = {**settings.of_stage("replay"), **settings.of_stage("distil")}
        # Polishing comes after the regression.
        trees["pool"] = settings.pool.removesuffix("+polish")
        distil = content_key(["distil", replay, trees])
        regress = content_key(["regress", distil, settings.of_stage("regress"), settings.pool])
        evaluate = content_key(["evaluate", regress, config.evaluation.to_mapping()])
        export = content_key(["export", evaluate, config.export.to_mapping()])
        return dict(zip(STAGES, (data, train, replay, distil, regress, evaluate, export), strict=True))

    def is_cached(self, stage: str) -> bool:
        """Whether the result of a stage exists."""
        if stage == "data":
            files = [self.file("data", data_key(split, "none")) for split in self.splits]
            return all(file.exists() for file in files)
        return self.file(stage, self.keys[stage], ".safetensors" if stage == "train" else ".npz").exists()

    def file(self, stage: str, key: str | None, suffix: str = ".npz") -> Path:
        """The file of a stage, or of a part of one."""
        return cache_file(stage, str(key), suffix, self.cache)

    def _network_key(self, data: str) -> str | None:
        config = self.config
        if config.checkpoint is not None:
            with open_regular(config.checkpoint) as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()[:32]
        if config.network is None or config.training is None:
            return None
        return content_key(["train", data, config.network.to_mapping(), config.training.identity()])

    @cached_property
    def sets(self) -> dict[str, DataSet]:
        """Stage data: all labelled states of each split."""
        return {split.name: self._labelled(split, "none") for split in self.splits}

    def _labelled(self, split: Split, reduce: str) -> DataSet:
        key = data_key(split, "none")
        file = self.file("data", key)
        with file_lock(file, lambda: self.progress(f"data: another job labels {split.name}", 0, 1)):
            exists = file.exists()
            begun = time.perf_counter()
            found, _ = prepare_reduced(
                split,
                reduce=reduce,
                workers=self.workers,
                cache=self.cache,
                progress=lambda done, total: self.progress(f"data: {split.name}", done, total),
            )
        self.records.append(StageRecord(f"data/{split.name}", key, not exists, time.perf_counter() - begun))
        return found

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """Stage train: the network, loaded or trained."""
        config = self.config
        if config.checkpoint is not None:
            return Checkpoint.load(config.checkpoint)
        if config.network is None or config.training is None:
            return None
        save, load = Checkpoint.save, Checkpoint.load
        return self._cached("train", self.keys["train"], lambda: (), self._train, save, load, ".safetensors")

    def _train(self) -> Checkpoint:
        config = self.config
        if config.network is None or config.training is None:
            raise InputError("The config has no network to train; give network and training.")
        how = TrainingConfig("train", config.source, config.network, config.training)
        how.check(self.splits)
        # The number of layers is computed from all splits; nothing else may use the test split.
        automatic = getattr(config.network, "layers", None) == AUTO
        reduced = {
            split.name: self._labelled(split, config.training.reduce)
            for split in self.splits
            if split.name != "test" or automatic
        }

        def progress(seed: int, epoch: Epoch) -> None:
            self.progress(f"train: seed {seed}", epoch.number, how.training.epochs)

        networks = train_networks(how, reduced, workers=self.workers, cache=self.cache, progress=progress)
        return checkpoint_of(how, networks)

    @cached_property
    def whole(self) -> Quotient | None:
        """Part of stage replay: the quotient of all states but those of test."""
        if not self.config.distillation.is_readable:
            return None
        marking = marks_goals(self.checkpoint)
        return self._cached(
            "replay/rows",
            content_key(["rows", self.keys["data"], marking]),
            lambda: (self.sets,),
            lambda sets: known_rows(sets, goal_marking=marking),
            Quotient.save,
            Quotient.load,
        )

    @cached_property
    def predictions(self) -> Predictions | None:
        """Part of stage replay: the values of the network for every state."""
        if self.checkpoint is None:
            return None
        return self._cached(
            "replay/network",
            content_key(["network", self.keys["data"], self.keys["train"]]),
            lambda: (self.checkpoint, self.sets),
            compute_predictions,
            Predictions.save,
            Predictions.load,
        )

    @cached_property
    def sample(self) -> Sample:
        """Stage replay: the states that trees learn from, with the network's activations."""
        settings = self.config.distillation
        return self._cached(
            "replay",
            self.keys["replay"],
            lambda: (self.checkpoint, self.sets, self.whole),
            lambda checkpoint, sets, whole: take_sample(checkpoint, sets, whole, settings),
            Sample.save,
            Sample.load,
        )

    @cached_property
    def features(self) -> ReadableExtractor | RidtFeatures:
        """Stage distil: the trees and their features."""
        settings = self.config.distillation

        def load(path: Path) -> ReadableExtractor | RidtFeatures:
            if settings.is_readable:
                return ReadableExtractor.load(path, self.sample.quotient, settings)
            return RidtFeatures.load(path)

        return self._cached(
            "distil",
            self.keys["distil"],
            lambda: (self.sample,),
            lambda sample: find_features(sample, settings, self._within("distil")),
            lambda found, path: found.save(path),
            load,
        )

    @cached_property
    def distillation(self) -> DistillationResult:
        """Stage regress: the value function."""
        settings = self.config.distillation
        return self._cached(
            "regress",
            self.keys["regress"],
            lambda: (self.features, self.sample, self.whole),
            lambda found, sample, whole: fit_features(
                found, sample, whole, settings, self._within("regress")
            ),
            DistillationResult.save,
            DistillationResult.load,
        )

    @cached_property
    def evaluation(self) -> EvaluationResult:
        """Stage evaluate: values of all states, scores, fidelity to the network."""
        return self._cached(
            "evaluate",
            self.keys["evaluate"],
            lambda: (self.distillation, self.sets, self.predictions),
            self._evaluate,
            EvaluationResult.save,
            EvaluationResult.load,
        )

    def _evaluate(
        self, distilled: DistillationResult, sets: Mapping[str, DataSet], predictions: Predictions | None
    ) -> EvaluationResult:
        function, steps = distilled.explanation, self.config.evaluation.max_steps
        values = function.predict(sets)
        solve = greedy_policy(function, steps) if steps else None
        found = evaluate(values, solve, self.splits, sets, progress=partial(self.progress, "evaluate"))
        faithful = fidelity(predictions.values, values, self.splits, sets) if predictions else {}
        metrics = metrics_of(function, distilled.objects, distilled.fit, found, faithful)
        return EvaluationResult(values, metrics)

    def check(self) -> None:
        """Refuse what cannot be distilled, before the long stages."""
        check_distillation(self.checkpoint, self.sets, self.config.distillation)

    def finish(self) -> None:
        """Compute all stages that are not cached."""
        _ = self.evaluation, self.distillation, self.predictions, self.sets

    def _within(self, stage: str) -> Progress:
        return lambda part, done, total: self.progress(f"{stage}: {part}", done, total)

    def _cached(
        self,
        stage: str,
        key: str | None,
        needs: Callable[[], tuple[Any, ...]],
        make: Callable[..., Result],
        save: Callable[[Result, Path], None],
        load: Callable[[Path], Result],
        suffix: str = ".npz",
    ) -> Result:
        """The result of a key from the cache; otherwise it is computed and stored, by one process only."""
        file = self.file(stage, key, suffix)
        found, _ = self._load(stage, key, file, load)
        if found is not None:
            return found
        with file_lock(file, lambda: self.progress(f"{stage}: another job computes it", 0, 1)):
            # Another process may have made it while this one waited.
            found, damaged = self._load(stage, key, file, load)
            if found is not None:
                return found
            inputs = needs()
            self.progress(stage, 0, 1)
            begun = time.perf_counter()
            made = make(*inputs)
            seconds = time.perf_counter() - begun
            save(made, file)
        self.records.append(StageRecord(stage, str(key), True, seconds, damaged))
        return made

    def _load(
        self, stage: str, key: str | None, file: Path, load: Callable[[Path], Result]
    ) -> tuple[Result | None, bool]:
        """The result in a file, or None; and whether the file is damaged."""
        if not file.exists():
            return None, False
        begun = time.perf_counter()
        try:
            with content_of(file):
                found = load(file)
        except InputError:
            return None, True
        self.records.append(StageRecord(stage, str(key), False, time.perf_counter() - begun))
        return found, False
