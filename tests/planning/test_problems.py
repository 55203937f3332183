import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
import yaml

from distill.common import InputError
from distill.planning import SPLITS, Instance, label, problem_class, problem_classes
from distill.planning.generators import GENERATORS
from distill.structures import DataSet

TABLE_5_1 = {
    "gripper": [(8, 16), (18, 20), (22, 46)],
    "miconic": [(3, 24), (27, 33), (36, 90)],
    "blocks-clear": [(2, 9), (10, 11), (12, 17)],
    "blocks-on": [(2, 9), (10, 11), (12, 17)],
    "visitall": [(25, 49), (64, 64), (81, 100)],
}
HOME = Path(__file__).parents[2] / "distill" / "planning"


@cache
def made(name: str, split: str) -> Sequence[Instance]:
    """The instances of a split, made once for all tests."""
    return problem_class(name).make(split)


@pytest.mark.parametrize("name", TABLE_5_1)
def test_object_counts_are_those_of_the_thesis(name: str) -> None:
    for split, (low, high) in zip(SPLITS, TABLE_5_1[name], strict=True):
        sizes = {len(instance.objects) for instance in made(name, split)}
        assert (min(sizes), max(sizes)) == (low, high)


@pytest.mark.parametrize("name", TABLE_5_1)
def test_goals_are_single_atoms(name: str) -> None:
    for split in SPLITS:
        for instance in made(name, split):
            [(_, _, wanted)] = instance.goals
            assert wanted
            assert not instance.is_goal(instance.initial_state) or len(instance.objects) == 2


@pytest.mark.parametrize("name", problem_classes())
def test_generators_are_deterministic_and_splits_disjoint(name: str) -> None:
    texts = []
    for split in SPLITS:
        first, second = made(name, split), problem_class(name).make(split)
        assert [i.text for i in first] == [i.text for i in second]
        texts += [re.sub(r"\(define \(problem [^)]*\)", "", i.text) for i in first]
    assert len(set(texts)) == len(texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", problem_classes())
def test_the_measured_figures_are_those_that_labelling_gives(name: str, training_set) -> None:
    measured = problem_class(name).splits["train"]["measured"]
    data: DataSet = training_set(name)
    assert measured == {key: data.summary()[key] for key in ("states", "max_v_star")}
    assert data.summary()["unlabelled_states"] == 0


def test_every_class_names_a_generator_and_a_domain_that_exist() -> None:
    paths = list((HOME / "classes").glob("*.yaml"))
    assert {path.stem for path in paths} >= {"blocks-on", "gripper"}
    for path in paths:
        spec = yaml.safe_load(path.read_text())
        assert spec["name"] == path.stem
        assert spec["generator"] in GENERATORS
        assert (HOME / "domains" / spec["domain"]).exists()


def test_a_class_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "blocks.pddl").write_text((HOME / "domains" / "blocks.pddl").read_text())
    (tmp_path / "mine.yaml").write_text(GOOD)
    mine = problem_class(str(tmp_path / "mine.yaml"))
    assert [len(i.objects) for i in mine.make("train")] == [3, 4]
    assert label(mine.make("train")[0], mine.labelling("train")).summary()["states"] == 22
    with pytest.raises(InputError, match="mine has no split 'test'"):
        mine.make("test")


GOOD = """
name: mine
title: My towers
goal: clear(x)
domain: blocks.pddl
generator: blocks
parameters: {goal: clear}
splits:
  train: {objects: [3, 4], instances: 2}
  validation: {objects: [5, 5], instances: 1}
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title: My towers\n", "", "lacks title"),
        ("title:", "titel: x\ntitle:", "unknown key titel"),
        ("generator: blocks", "generator: towers", "no generator 'towers'; choose from blocks"),
        ("  train:", "  training:", "no split 'training'"),
        ("[5, 5]", "[4, 5]", "validation: objects must be"),
        ("[5, 5]", "5", "validation: objects must be"),
        ("instances: 1", "instance: 1", "validation: lacks instances"),
        ("goal: clear}", "goal: shiny}", "no goal 'shiny'"),
        ("goal: clear}", "height: 3}", "blocks"),
        ("splits:", "labelling: {steps: 3}\nsplits:", "no setting steps"),
        ("splits:", "labelling: {walks: many}\nsplits:", "walks must be a whole number"),
        ("name: mine", "name: [mine", "mine.yaml, line 3: this is not YAML"),
        (GOOD, "just text", "must be a mapping"),
        ("blocks.pddl", "missing.pddl", "Cannot read"),
    ],
)
def test_mistakes_in_a_class_are_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "blocks.pddl").write_text((HOME / "domains" / "blocks.pddl").read_text())
    assert old in GOOD
    (tmp_path / "mine.yaml").write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=told) as caught:
        problem_class(str(tmp_path / "mine.yaml")).split("train")
    assert "\n" not in str(caught.value)


def test_an_unknown_class_is_told() -> None:
    with pytest.raises(InputError, match="no problem class 'grippper'; choose from blocks"):
        problem_class("grippper")


@pytest.mark.parametrize(
    ("objects", "instances", "told"),
    [
        ("[3, 1000000000]", "1", "must be a whole number from 1 to 5000, not 1000000000"),
        ("[0, 3]", "1", "must be a whole number from 1 to 5000, not 0"),
        ("[3, 3.5]", "1", "must be a whole number from 1 to 5000, not 3.5"),
        ("[3, 3]", "1000000000", "must be a whole number from 0 to 100000, not 1000000000"),
        ("[3, 3]", "-1", "must be a whole number from 0 to 100000, not -1"),
        ("[5000, 5000]", "100000", "500000000 objects in total needs at least"),
    ],
)
def test_sizes_have_a_range(tmp_path, monkeypatch, objects, instances, told):
    monkeypatch.setattr("distill.common.memory.machine_memory", lambda: 2**33)
    (tmp_path / "large.yaml").write_text(
        "{name: large, title: Large, goal: clear(x), domain: blocks.pddl, generator: blocks, "
        f"parameters: {{goal: clear}}, splits: {{train: {{objects: {objects}, instances: {instances}}}}}}}"
    )
    with pytest.raises(InputError, match=told):
        problem_class(str(tmp_path / "large.yaml"))


def test_parameters_of_generators_have_a_range(tmp_path):
    (tmp_path / "rooms.yaml").write_text(
        "{name: rooms, title: Rooms, goal: at(x), domain: gripper.pddl, generator: gripper, "
        "parameters: {rooms: [2, 1000000000]}, splits: {train: {objects: [5, 5], instances: 1}}}"
    )
    with pytest.raises(InputError, match="the parameter rooms must be a number from 0 to 5000"):
        problem_class(str(tmp_path / "rooms.yaml"))
