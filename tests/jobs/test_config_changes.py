"""Changes of configs: settings given on the command line or by a sweep."""

from pathlib import Path

import pytest

from distill.common import InputError
from distill.distillation import Distillation
from distill.jobs import RunConfig, parse_override
from distill.networks import Architecture
from tests.support.configs import nowhere

GOOD = {"problem": "gripper", "checkpoint": "net.safetensors"}


def test_changes_by_every_sort_of_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = RunConfig.from_mapping(GOOD, Path("/nets"), nowhere)
    assert config.with_settings({"seed": 3}) == config.with_settings({"distillation.seed": 3})
    assert config.with_settings({"seed": 3}).distillation == Distillation(seed=3)
    assert config.with_settings({"checkpoint": "b"}).checkpoint == tmp_path / "b"
    assert config.with_settings({"problem": "miconic"}).source == {"problem": "miconic"}
    assert config.with_settings({"labelling.walks": 2}).labelling == {"walks": 2}
    assert config.with_settings({"seed": 3}).with_settings({"seed": None}) == config
    trained = config.with_settings({"checkpoint": None, "network": {"layers": 2}, "network.size": 4})
    assert trained.checkpoint is None
    assert trained.network == Architecture(layers=2, size=4)
    assert trained.with_settings({"network": None}).network == Architecture()
    free = config.with_settings({"checkpoint": None, "pool": "enumerate"})
    assert (free.checkpoint, free.network) == (None, None)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"seed": "a"},
            "The options: distillation.seed must be a whole number from 0 to 4294967295, not 'a'.",
        ),
        ({"sed": 1}, "The options: there is no entry or setting sed; did you mean seed?"),
        ({"distillation.sed": 1}, "The options: there is no setting sed in distillation; did you mean seed?"),
        ({"qqqq": 1}, "The options: there is no entry or setting qqqq; choose one of problem, domain,"),
        ({"distillation": 3}, "The options: distillation must hold settings by name, not 3."),
        ({"network": {"size": "x"}, "checkpoint": None}, "The options: network.size must be a whole number"),
        ({"training.epochs": 3}, "The config: a checkpoint excludes training;"),
        ({"checkpoint": None}, "The config must name a checkpoint, or a network to train."),
        ({"problem": None}, "The config must name a problem, or a domain with instances."),
    ],
)
def test_wrong_changes_are_told(changes, told):
    with pytest.raises(InputError) as caught:
        RunConfig.from_mapping(GOOD, Path(), nowhere).with_settings(changes)
    assert str(caught.value).startswith(told)


def test_changes_can_mend_a_file_and_mistakes_are_told_where_they_are(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("problem: gripper\ndistillation:\n  seed: a\n")
    assert RunConfig.read(file, {"checkpoint": "/a", "seed": 2}).distillation.seed == 2
    with pytest.raises(InputError, match=r"run\.yaml, line 3: distillation\.seed"):
        RunConfig.read(file, {"checkpoint": "/a"})
    with pytest.raises(InputError, match=r"^The options: distillation\.linkage"):
        RunConfig.read(file, {"checkpoint": "/a", "seed": 2, "linkage": "war"})
    made = RunConfig.from_mapping({"problem": "gripper"}, Path(), nowhere, {"pool": "enumerate"})
    assert made.distillation == Distillation(pool="enumerate")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("seed=3", ("distillation.seed", 3)),
        ("training.learning_rate=0.001", ("training.learning_rate", 0.001)),
        ("features=boolean,combined", ("distillation.features", ["boolean", "combined"])),
        ("features=[boolean, combined]", ("distillation.features", ["boolean", "combined"])),
        ("distillation.features=combined", ("distillation.features", ["combined"])),
        ("labelling.search=astar, blind", ("labelling.search", ["astar", "blind"])),
        ("checkpoint=null", ("checkpoint", None)),
        ("checkpoint=a,b=c.safetensors", ("checkpoint", "a,b=c.safetensors")),
        ("intercept=false", ("distillation.intercept", False)),
        ("network={layers: 3}", ("network", {"layers": 3})),
    ],
)
def test_overrides_as_they_are_typed(text, found):
    assert parse_override(text) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed", "--set seed must look like KEY=VALUE."),
        ("seed=", "--set seed= must look like KEY=VALUE."),
        ("=3", "--set: there is no entry or setting ;"),
        ("seeed=3", "--set: there is no entry or setting seeed; did you mean seed?"),
        ("export.form=3", "--set: there is no setting form in export; did you mean formats?"),
        ("seed=[1", "--set seed=[1: this is not YAML ("),
    ],
)
def test_overrides_that_cannot_be_read(text, told):
    with pytest.raises(InputError) as caught:
        parse_override(text)
    assert str(caught.value).startswith(told)
