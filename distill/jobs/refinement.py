"""Refinement: counterexamples to a value function are added to its training data."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from distill.jobs.config import is_class_file, splits_of
from distill.jobs.run_config import RunConfig
from distill.planning import Labelling, ProblemClass, label, problem_class
from distill.runs import Run
from distill.verification import Counterexample, Verification

REFINED = ".refined"


@dataclass(frozen=True)
class Round:
    """A run of the refinement.

    Attributes
    ----------
    run : the run.
    verification : its verification.
    added : the number of training states added since the round before.
    """

    run: Run
    verification: Verification
    added: int

    @property
    def result(self) -> str:
        """The result in a few words."""
        wrong = self.verification.counterexample
        if wrong is None:
            return "verified"
        return f"wrong with {len(wrong.family.objects)} objects: V = {wrong.value:g}, V* = {wrong.v_star}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "run": self.run.name,
            "features": self.run.metrics["features"],
            "size": self.run.metrics["formula_size"],
            "states_added": self.added,
            "verified": self.verification.holds,
            "result": self.result,
        }


def refine(
    run: Run,
    verify: Callable[[Run], Verification],
    distil: Callable[[RunConfig], Run],
    folder: Path,
    *,
    rounds: int = 5,
) -> list[Round]:
    """Verify a run; while it is wrong, add the counterexample to its training data and distil again.

    Parameters
    ----------
    verify : verifies a run.
    distil : makes the run of a config, such as `do_job`.
    folder : the folder of the training instances of new runs.
    rounds : the largest number of new runs.

    Returns
    -------
    The history of rounds.
    """
    history = [Round(run, verify(run), 0)]
    found: list[str] = []
    while (wrong := history[-1].verification.counterexample) is not None and len(history) <= rounds:
        example = Counterexample(history[-1].verification, wrong)
        if example.pddl in found:
            # It is among the training instances already, so adding it again would not help.
            break
        found.append(example.pddl)
        config = extended_config(run, found, folder / f"round-{len(found)}")
        added = len(label(example.instance, _labelling(config)))
        made = distil(config)
        history.append(Round(made, verify(made), added))
    return history


def extended_config(run: Run, texts: list[str], folder: Path) -> RunConfig:
    """The config of a run with more training instances, which are written into a folder.

    Parameters
    ----------
    texts : the PDDL of the instances.
    """
    if folder.exists():
        shutil.rmtree(folder)
    examples = folder / "counterexamples"
    examples.mkdir(parents=True)
    for number, text in enumerate(texts, start=1):
        (examples / f"counterexample-{number}.pddl").write_text(text)
    config = RunConfig.read(run.folder / "config.yaml")
    if "problem" in config.source:
        return config.with_settings({"problem": str(_class_with(config.source["problem"], folder))})
    parts = {}
    for split in splits_of(config.source, run.name):
        place = folder / split.name
        place.mkdir()
        for number, instance in enumerate(split.instances):
            (place / f"{number:03d}-{Path(instance.name).stem}.pddl").write_text(instance.text)
        parts[split.name] = str(place)
    for file in examples.iterdir():
        shutil.copy(file, Path(parts["train"]))
    return config.with_settings({"instances": None, **parts})


def _class_with(name: str, folder: Path) -> Path:
    """Write a problem class with the counterexamples among its training instances."""
    known: ProblemClass = problem_class(name)
    domain = folder / "domain.pddl"
    domain.write_text(known.domain.text)
    splits: dict[str, Any] = {}
    for split in [*known.splits, *(["beyond"] if known.beyond else [])]:
        splits[split] = dict(known.declared(split))
    examples = sorted(str(file.relative_to(folder)) for file in (folder / "counterexamples").iterdir())
    splits["train"]["also"] = [*splits["train"]["also"], *examples]
    whole = {
        "name": known.name,
        "title": known.title,
        "goal": known.goal,
        "domain": domain.name,
        "generator": known.generator,
        "splits": {split: own for split, own in splits.items() if split != "beyond"},
        **({"beyond": splits["beyond"]} if known.beyond else {}),
    }
    stem = Path(name).stem if is_class_file(name) else name
    file = folder / f"{stem}.yaml"
    file.write_text(yaml.safe_dump(whole, sort_keys=False))
    return file


def _labelling(config: RunConfig) -> Labelling:
    """The labelling of the training states."""
    return next(split.labelling for split in config.splits() if split.name == "train")
