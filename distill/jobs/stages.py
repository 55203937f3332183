"""The stages of a job, each kept under a name made from all it depends on.

data → train → replay → distil → regress → evaluate; the last stage, export, writes the run. Names are known
before any work is done. A stage that is kept is not done again, by no job; one that is damaged is.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from distill import __version__
from distill.errors import InputError
from distill.files import locked
from distill.jobs.distillation import Fitted, check_distillation, find_features, fit_features, take_sample
from distill.jobs.evaluation import evaluate, fidelity
from distill.jobs.measured import Measured, measured
from distill.jobs.outlook import Outlook, look
from distill.jobs.reduction import prepare_reduced
from distill.jobs.run_config import RunConfig
from distill.jobs.sample import Sample, known_rows, marks_goals
from distill.jobs.training import TrainingConfig, checkpoint_of, train_networks
from distill.models import Checkpoint
from distill.planning import DataSet, Split, data_key
from distill.planning.cache import cache_folder, content_key
from distill.structures import Quotient
from distill.trees import Learned, Reader

STAGES = ("data", "train", "replay", "distil", "regress", "evaluate", "export")
Progress = Callable[[str, int, int], None]
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Step:
    """What happened to a stage.

    Attributes
    ----------
    stage : its name, and of a part of it after a slash.
    key : the name under which it is kept.
    made : whether it was done, and not found.
    seconds : how long that took.
    damaged : whether what was kept could not be read.
    """

    stage: str
    key: str
    made: bool
    seconds: float
    damaged: bool = False


@dataclass(eq=False)
class Stages:
    """The stages of one config.

    Attributes
    ----------
    config : what to do.
    workers : the number of processes that may be used.
    cache : the folder that keeps results; see `cache_folder`.
    progress : called with what is done, and the steps done and to do.
    steps : what happened, in order.
    """

    config: RunConfig
    workers: int = 1
    cache: Path = field(default_factory=cache_folder)
    progress: Progress = lambda stage, done, total: None
    steps: list[Step] = field(default_factory=list)

    @cached_property
    def splits(self) -> list[Split]:
        """What to learn from and to be measured on."""
        return self.config.splits()

    @cached_property
    def keys(self) -> dict[str, str | None]:
        """The name of each stage; none for a network that is not there."""
        config, settings = self.config, self.config.distillation
        data = content_key([__version__, [[split.name, data_key(split, "none")] for split in self.splits]])
        train = self._network_key(data)
        sampled: Any = settings.of_stage("replay") if settings.is_readable else "all training states"
        replay = content_key(["replay", data, train, sampled])
        trees = {**settings.of_stage("replay"), **settings.of_stage("distil")}
        # Polishing comes after the regression.
        trees["pool"] = settings.pool.removesuffix("+polish")
        distil = content_key(["distil", replay, trees])
        regress = content_key(["regress", distil, settings.of_stage("regress"), settings.pool])
        evaluate = content_key(["evaluate", regress, config.evaluation.to_mapping()])
        export = content_key(["export", evaluate, config.export.to_mapping()])
        return dict(zip(STAGES, (data, train, replay, distil, regress, evaluate, export), strict=True))

    def is_kept(self, stage: str) -> bool:
        """Whether a stage was done before, by any job."""
        if stage == "data":
            files = [self.cache / "data" / f"{data_key(split, 'none')}.npz" for split in self.splits]
            return all(file.exists() for file in files)
        return self.file(stage, self.keys[stage], ".safetensors" if stage == "train" else ".npz").exists()

    def file(self, stage: str, key: str | None, suffix: str = ".npz") -> Path:
        """Where a stage, or a part of one, is kept; what other code made is not taken for ours."""
        return self.cache / stage / f"{key}-{_code()}{suffix}"

    def _network_key(self, data: str) -> str | None:
        config = self.config
        if config.checkpoint is not None:
            try:
                with config.checkpoint.open("rb") as stream:
                    return hashlib.file_digest(stream, "sha256").hexdigest()[:32]
            except OSError as error:
                raise InputError(
                    f"Cannot read the checkpoint {config.checkpoint}: {error.strerror or error}."
                ) from error
        if config.network is None or config.training is None:
            return None
        return content_key(["train", data, config.network.to_mapping(), config.training.to_mapping()])

    @cached_property
    def sets(self) -> dict[str, DataSet]:
        """Stage data: all labelled states of each split."""
        return {split.name: self._labelled(split, "none") for split in self.splits}

    def _labelled(self, split: Split, reduce: str) -> DataSet:
        key = data_key(split, "none")
        file = self.cache / "data" / f"{key}.npz"
        with locked(file, lambda: self.progress(f"data: another job labels {split.name}", 0, 1)):
            kept = file.exists()
            begun = time.perf_counter()
            found, _ = prepare_reduced(
                split,
                reduce=reduce,
                workers=self.workers,
                cache=self.cache,
                progress=lambda done, total: self.progress(f"data: {split.name}", done, total),
            )
        self.steps.append(Step(f"data/{split.name}", key, not kept, time.perf_counter() - begun))
        return found

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """Stage train: the network, trained where there is no file."""
        config = self.config
        if config.checkpoint is not None:
            return Checkpoint.load(config.checkpoint)
        if config.network is None or config.training is None:
            return None
        return self._kept(
            "train",
            self.keys["train"],
            lambda: (),
            self._train,
            Checkpoint.save,
            Checkpoint.load,
            ".safetensors",
        )

    def _train(self) -> Checkpoint:
        config = self.config
        if config.network is None or config.training is None:
            raise InputError("The config says nothing of a network to train; give network and training.")
        reduced = {
            split.name: self._labelled(split, config.training.reduce)
            for split in self.splits
            if split.name != "test"
        }
        how = TrainingConfig("train", config.source, config.network, config.training)
        how.check(self.splits)
        networks = train_networks(
            how,
            reduced,
            workers=self.workers,
            cache=self.cache,
            progress=lambda seed, epoch: self.progress(
                f"train: seed {seed}", epoch.number, how.training.epochs
            ),
        )
        return checkpoint_of(how, networks)

    @cached_property
    def whole(self) -> Quotient | None:
        """Part of stage replay: the quotient of all states that may be looked at before testing."""
        if not self.config.distillation.is_readable:
            return None
        marking = marks_goals(self.checkpoint)
        return self._kept(
            "replay/rows",
            content_key(["rows", self.keys["data"], marking]),
            lambda: (self.sets,),
            lambda sets: known_rows(sets, goal_marking=marking),
            Quotient.save,
            Quotient.load,
        )

    @cached_property
    def outlook(self) -> Outlook | None:
        """Part of stage replay: what the network says of every state."""
        if self.checkpoint is None:
            return None
        return self._kept(
            "replay/network",
            content_key(["network", self.keys["data"], self.keys["train"]]),
            lambda: (self.checkpoint, self.sets),
            look,
            Outlook.save,
            Outlook.load,
        )

    @cached_property
    def sample(self) -> Sample:
        """Stage replay: the states that trees learn from, with the network's activations."""
        settings = self.config.distillation
        return self._kept(
            "replay",
            self.keys["replay"],
            lambda: (self.checkpoint, self.sets, self.whole),
            lambda checkpoint, sets, whole: take_sample(checkpoint, sets, whole, settings),
            Sample.save,
            Sample.load,
        )

    @cached_property
    def features(self) -> Reader | Learned:
        """Stage distil: trees, and the features they bear."""
        settings = self.config.distillation

        def load(path: Path) -> Reader | Learned:
            return (
                Reader.load(path, self.sample.quotient, settings)
                if settings.is_readable
                else Learned.load(path)
            )

        return self._kept(
            "distil",
            self.keys["distil"],
            lambda: (self.sample,),
            lambda sample: find_features(sample, settings, self._within("distil")),
            lambda found, path: found.save(path),
            load,
        )

    @cached_property
    def fitted(self) -> Fitted:
        """Stage regress: the value function."""
        settings = self.config.distillation
        return self._kept(
            "regress",
            self.keys["regress"],
            lambda: (self.features, self.sample, self.whole),
            lambda found, sample, whole: fit_features(
                found, sample, whole, settings, self._within("regress")
            ),
            Fitted.save,
            Fitted.load,
        )

    @cached_property
    def measured(self) -> Measured:
        """Stage evaluate: values of all states, scores, fidelity to the network."""
        return self._kept(
            "evaluate",
            self.keys["evaluate"],
            lambda: (self.fitted, self.sets, self.outlook),
            self._measure,
            Measured.save,
            Measured.load,
        )

    def _measure(self, fitted: Fitted, sets: Mapping[str, DataSet], outlook: Outlook | None) -> Measured:
        distilled, steps = fitted.distilled, self.config.evaluation.max_steps
        values = distilled.predict(sets)
        solve = distilled.policy(steps) if steps else None
        found = evaluate(values, solve, self.splits, sets, progress=self._counting("evaluate"))
        faithful = fidelity(outlook.values, values, self.splits, sets) if outlook else {}
        return measured(fitted, values, found, faithful)

    def check(self) -> None:
        """Refuse what cannot be distilled, before the long stages."""
        check_distillation(self.checkpoint, self.sets, self.config.distillation)

    def finish(self) -> None:
        """Do all that is left to do, or find it done."""
        _ = self.measured, self.fitted, self.outlook, self.sets

    def _within(self, stage: str) -> Progress:
        return lambda part, done, total: self.progress(f"{stage}: {part}", done, total)

    def _counting(self, stage: str) -> Callable[[int, int], None]:
        return lambda done, total: self.progress(stage, done, total)

    def _kept(
        self,
        stage: str,
        key: str | None,
        needs: Callable[[], tuple[Any, ...]],
        make: Callable[..., Kept],
        save: Callable[[Kept, Path], None],
        load: Callable[[Path], Kept],
        suffix: str = ".npz",
    ) -> Kept:
        """What is kept under a key; else it is made and kept, by one process only."""
        file = self.file(stage, key, suffix)
        found, _ = self._found(stage, key, file, load)
        if found is not None:
            return found
        with locked(file, lambda: self.progress(f"{stage}: another job is at it", 0, 1)):
            # Another process may have made it while this one waited.
            found, damaged = self._found(stage, key, file, load)
            if found is not None:
                return found
            inputs = needs()
            self.progress(stage, 0, 1)
            begun = time.perf_counter()
            made = make(*inputs)
            seconds = time.perf_counter() - begun
            save(made, file)
        self.steps.append(Step(stage, str(key), True, seconds, damaged))
        return made

    def _found(
        self, stage: str, key: str | None, file: Path, load: Callable[[Path], Kept]
    ) -> tuple[Kept | None, bool]:
        """What a file holds, if it is there; and whether it is there but damaged."""
        if not file.exists():
            return None, False
        begun = time.perf_counter()
        try:
            found = load(file)
        except (InputError, LookupError, TypeError, ValueError, AttributeError):
            return None, True
        self.steps.append(Step(stage, str(key), False, time.perf_counter() - begun))
        return found, False


@cache
def _code() -> str:
    """A key of this package's code: who changes it does not want to see what it made before."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:8]
