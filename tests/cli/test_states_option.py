"""`--states` and the entry `states`: labelled states from a folder, in every command that takes data."""

import json
from pathlib import Path

import pytest

from distill.common import InputError
from distill.jobs import RunConfig, TrainingConfig
from distill.planning import Labelling, label, problem_class
from distill.structures import DataSet, join
from tests.support.commands import distill
from tests.support.state_texts import state_text

WALKS = Labelling(states="walks", walks=1, walk_length=6)
CHECKPOINT = Path(__file__).parents[2] / "artifacts" / "checkpoints" / "blocks-clear.safetensors"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Archives, and the same states as texts with their PDDL."""
    folder = tmp_path_factory.mktemp("labelled")
    declared = problem_class("blocks-clear")
    for name in ("pddl", "texts"):
        (folder / name / "train").mkdir(parents=True)
    (folder / "domain.pddl").write_text(declared.domain.text)
    sets = []
    for number, instance in enumerate(declared.make("train")[2:5]):
        sets.append(label(instance, WALKS))
        (folder / "pddl" / "train" / f"p{number}.pddl").write_text(instance.text)
        (folder / "texts" / "train" / f"p{number}_states.txt").write_text(state_text(sets[-1]))
    (folder / "archives").mkdir()
    for split in ("train", "validation"):
        join(sets).save(folder / "archives" / f"{split}.npz")
    return folder


def source(home: Path, kind: str) -> list[str]:
    if kind == "archives":
        return ["--states", str(home / "archives")]
    given = ["--domain", str(home / "domain.pddl"), "--train", str(home / "pddl" / "train")]
    return [*given, "--states", str(home / "texts")]


def counts(home: Path, kind: str) -> dict:
    done = distill("data", *source(home, kind), "--reduce", "none", "--split", "train", "--json")
    return json.loads(done.stdout)["splits"]["train"]


def test_archives_and_texts_hold_the_same_states(home):
    archives, texts = counts(home, "archives"), counts(home, "texts")
    stored = DataSet.load(home / "archives" / "train.npz")
    assert archives["states"] == texts["states"] == len(stored)
    assert archives["max_v_star"] == texts["max_v_star"] == stored.v_star.max()
    assert (archives["instances"], archives["exhaustive_instances"]) == (3, 0)


@pytest.mark.parametrize("kind", ["archives", "texts"])
def test_a_network_is_evaluated_on_them(home, kind):
    given = [*source(home, kind), *(["--split", "train"] if kind == "archives" else [])]
    done = distill("evaluate", str(CHECKPOINT), *given, "--max-steps", "0", "--json")
    answer = json.loads(done.stdout)["splits"]["train"]
    assert answer["states"] == len(DataSet.load(home / "archives" / "train.npz"))
    assert answer["mae"] < 0.1


def test_other_commands_take_them(home):
    given = source(home, "archives")
    assert distill("quotient", *given, "--json").returncode == 0
    assert distill("conflicts", *given, "--json").returncode == 0
    evaluated = distill("formula", "eval", "#holding", *given, "--split", "train", "--json")
    assert json.loads(evaluated.stdout)["states"] == len(DataSet.load(home / "archives" / "train.npz"))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--states", "{home}/archives", "--max-states", "5"], "leave --max-states out"),
        (["--states", "{home}/texts"], "holds none of train.npz, validation.npz, test.npz"),
        (["--states", "{home}/nowhere"], "holds none of train.npz"),
        (["gripper", "--states", "{home}/archives", "--split", "train"], "instances and the split train has"),
        (["--states", "{home}/archives", "--split", "test"], "no instances in the split test"),
    ],
)
def test_refusals(home, given, sentence):
    done = distill("data", *(one.format(home=home) for one in given))
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_an_entry_of_a_config(home, tmp_path):
    (tmp_path / "train.yaml").write_text(f"states: {home / 'archives'}\nnetwork: {{layers: 2, size: 4}}\n")
    splits = TrainingConfig.read(tmp_path / "train.yaml").splits()
    assert [(split.name, len(split.instances)) for split in splits] == [("train", 3), ("validation", 3)]
    whole = {"states": str(home / "archives"), "checkpoint": str(CHECKPOINT)}
    config = RunConfig.from_mapping(whole, Path(), lambda *keys: "a config")
    assert config.to_mapping()["states"] == str(home / "archives")
    assert [len(split.instances) for split in config.splits()] == [3, 3]
    texts = {"domain": str(home / "domain.pddl"), "train": str(home / "pddl" / "train")}
    config = RunConfig.from_mapping(
        {**texts, "checkpoint": str(CHECKPOINT), "states": str(home / "texts")}, Path(), lambda *k: "a config"
    )
    [split] = config.splits()
    assert [file.name for file in split.states] == [f"p{number}_states.txt" for number in range(3)]
    with pytest.raises(InputError, match="either a problem or a domain"):
        RunConfig.from_mapping(
            {**texts, **whole, "problem": "gripper"}, Path(), lambda *keys: "a config"
        ).splits()
