"""Refinement: what is wrong joins the training instances of the next run."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from distill.jobs import refine
from distill.jobs.refinement import extended_config
from distill.planning import problem_class
from distill.runs import Run
from distill.verification import Verifier
from tests.support.paths import DEMO

pytestmark = pytest.mark.slow


def verified(run: Run):
    return Verifier(run.value_function.value).problem(problem_class("gripper"), 6)


def forged(folder: Path, weight: int) -> Run:
    """The demo with a weight changed."""
    shutil.copytree(DEMO, folder)
    whole = json.loads((folder / "model.json").read_text())
    [row] = [row for row in whole["nodes"] if row[:2] == ["scaled", -5]]
    row[1] = weight
    (folder / "model.json").write_text(json.dumps(whole))
    config = yaml.safe_load((folder / "config.yaml").read_text())
    config["checkpoint"] = str((DEMO / config["checkpoint"]).resolve())
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    return Run.load(folder)


def test_counterexamples_join_the_training_instances_until_it_verifies(tmp_path):
    made = [forged(tmp_path / "b", -3), Run.load(DEMO)]
    configs = []

    def distil(config):
        configs.append(config)
        return made[len(configs) - 1]

    history = refine(forged(tmp_path / "a", -4), verified, distil, tmp_path / "kept", rounds=4)
    assert [one.result.split(":")[0] for one in history] == ["wrong with 5 objects"] * 2
    # The second run is wrong in the very state that was added: it will not be learned by adding it again.
    [config] = configs
    train = next(split for split in config.splits() if split.name == "train")
    usual = problem_class("gripper").make("train")
    assert [one.text for one in train.instances[:-1]] == [one.text for one in usual]
    assert "counterexample" in train.instances[-1].text
    assert train.labelling == problem_class("gripper").labelling("train")
    assert history[1].added == 8
    kept = [split.instances for split in config.splits() if split.name == "test"]
    assert [one.text for one in kept[0]] == [one.text for one in problem_class("gripper").make("test")]


def test_it_ends_when_a_run_is_right_or_after_so_many_rounds(tmp_path):
    wrong = forged(tmp_path / "a", -4)
    history = refine(wrong, verified, lambda config: Run.load(DEMO), tmp_path / "kept")
    assert [one.to_json()["verified"] for one in history] == [False, True]
    assert history[1].to_json()["states_added"] == 8
    assert len(refine(wrong, verified, lambda config: wrong, tmp_path / "kept", rounds=0)) == 1


@pytest.mark.parametrize("entry", ["instances", "train"])
def test_runs_from_files_keep_their_splits(entry, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    problem = problem_class("blocks-clear")
    for instance in problem.make("train")[:3]:
        (files / f"{instance.name}.pddl").write_text(instance.text)
    source = {"domain": str(problem.domain_file), entry: str(files), "distillation": {"pool": "enumerate"}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(source))
    text = problem.make("train")[5].text
    made = extended_config(Run(tmp_path, {}, source), [text], tmp_path / "kept")
    sizes = {split.name: sorted(len(one.objects) for one in split.instances) for split in made.splits()}
    assert sizes == (
        {"train": [2, 3, 4, 7]} if entry == "train" else {"train": [2, 7], "validation": [3], "test": [4]}
    )
