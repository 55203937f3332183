"""Small jobs, for tests of what is around them: four Blocks instances and an untrained network."""

import hashlib
from concurrent.futures import Executor, Future
from pathlib import Path

import torch
import yaml

from distill.jobs import RunConfig, Sweep
from distill.networks import RGNN, Architecture, Checkpoint
from distill.planning import problem_class

SETTINGS = {"inner_width": 2, "final_width": 2, "states": 60, "time_limit": 20.0, "rounds": 0}


class Here(Executor):
    """Does tasks at once, in this process."""

    def submit(self, task, /, *arguments, **options):
        future: Future = Future()
        try:
            future.set_result(task(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


def small_content(folder: Path, **settings: object) -> dict[str, object]:
    """The entries of a config whose files are in a folder; they are made if they are not there."""
    instances, network = folder / "instances", folder / "net.safetensors"
    if not instances.exists():
        instances.mkdir(parents=True)
        problem = problem_class("blocks-clear")
        for instance in problem.make("train")[:4]:
            (instances / f"{instance.name}.pddl").write_text(instance.text)
        (folder / "blocks.pddl").write_text(problem.domain.text)
        torch.manual_seed(0)
        words = problem.domain.vocabulary()
        Checkpoint(RGNN(words, Architecture(layers=2, size=4))).save(network)
    return {
        "domain": str(folder / "blocks.pddl"),
        "train": str(instances),
        "test": str(instances),
        "checkpoint": str(network),
        "distillation": {**SETTINGS, **settings},
        "evaluation": {"max_steps": 20},
    }


def small_config(folder: Path, **settings: object) -> RunConfig:
    return RunConfig.from_mapping(small_content(folder, **settings), Path(), lambda *keys: "a test")


def small_sweep(folder: Path, name: str = "small", **parts: object) -> Sweep:
    """A sweep over small jobs; `parts` are entries such as grid and seeds."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump({"base": small_content(folder), **parts}))
    return Sweep.read(file)


def contents(store: Path) -> dict[str, str]:
    """A checksum of every file of every run, but their logs."""
    return {
        str(file.relative_to(store)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(store.rglob("*"))
        if file.is_file()
        and file.name != "log.jsonl"
        and not any(part.startswith(".") for part in file.relative_to(store).parts)
    }
