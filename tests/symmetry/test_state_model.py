"""The abstract state model: Figure 1 of the symmetry paper, faithfulness, and its drawing."""

from dataclasses import replace

import numpy as np
import pytest

from distill.common import InputError
from distill.planning import Instance, collect, expand, problem_class, transitions
from distill.structures import DataSet, join
from distill.symmetry import StateModel, check_drawable, draw_state_model
from tests.support.gripper import carry_all

CLASSES = [("blocks-on", 2), ("gripper", 0), ("logistics", 1), ("miconic", 5)]
Features = tuple[int, int, str]


def expanded(instance: Instance) -> DataSet:
    data = expand(instance, 10_000)
    assert data is not None
    return data


def model_of(instance: Instance) -> tuple[DataSet, StateModel]:
    data = expanded(instance)
    return data, StateModel.of(data, transitions(data))


def features(data: DataSet, state: int) -> Features:
    """The balls in room A, the balls that are held, and the place of the robot, as in Figure 1."""
    atoms = data.changing_atom_names(state)
    in_a = sum(atom.startswith("(at ball") and atom.endswith("rooma)") for atom in atoms)
    held = sum(atom.startswith("(carry") for atom in atoms)
    return in_a, held, "A" if "(at-robby rooma)" in atoms else "B"


def next_features(n: int, state: Features) -> set[tuple[str, Features]]:
    """What each action schema of Gripper leads to, by its meaning."""
    in_a, held, place = state
    here = in_a if place == "A" else n - in_a - held
    change = 1 if place == "A" else 0
    found = {("move", (in_a, held, "A")), ("move", (in_a, held, "B"))}
    if here and held < 2:
        found.add(("pick", (in_a - change, held + 1, place)))
    if held:
        found.add(("drop", (in_a + change, held - 1, place)))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_gripper_has_the_classes_and_transitions_of_figure_1(n: int) -> None:
    data, model = model_of(carry_all(n))
    assert len(model) == 6 * n == 2 * ((n + 1) + n + (n - 1))
    # Each class has features of its own, the same in all its states.
    of_node = [{features(data, int(state)) for state in model.members(node)} for node in range(len(model))]
    assert all(len(one) == 1 for one in of_node)
    known = [next(iter(one)) for one in of_node]
    assert len(set(known)) == len(model)
    found = {
        (known[source], name, known[target])
        for (source, target), names in zip(model.transitions.tolist(), model.schemas, strict=True)
        for name in names
    }
    assert found == {(one, name, after) for one in known for name, after in next_features(n, one)}
    assert known[0] == (n, 0, "A")
    assert {known[node] for node in np.flatnonzero(model.v_star == 0)} == {(0, 0, "A"), (0, 0, "B")}


@pytest.mark.parametrize(("name", "number"), CLASSES)
def test_the_model_is_faithful_and_has_the_values_of_the_instance(name: str, number: int) -> None:
    """Definition 2 and Corollary 4 of `symmetries.txt`."""
    instance = problem_class(name).make("train")[number]
    data, model = model_of(instance)
    found = transitions(data)
    assert model.sizes().sum() == len(data)
    assert len(model) < len(data) or name not in ("blocks-on", "gripper")
    assert np.array_equal(model.v_star[model.node], data.v_star)
    # From every state of a class, the same schemas lead to the same classes.
    reached: list[set[tuple[str, int]]] = [set() for _ in range(len(data))]
    for source, target, action in zip(found.source, found.target, found.action, strict=True):
        reached[source].add((found.schemas[found.action_schema[action]], int(model.node[target])))
    for node in range(len(model)):
        expected = {
            (schema, int(model.transitions[edge, 1]))
            for edge in model.after(node)
            for schema in model.schemas[edge]
        }
        assert all(reached[state] == expected for state in model.members(node))
    # So the distances to the goal within the model are V*.
    value = np.where(model.v_star == 0, 0, 10**6)
    for _ in range(len(model)):
        np.minimum.at(value, model.transitions[:, 0], value[model.transitions[:, 1]] + 1)
    assert np.array_equal(value, np.where(model.v_star < 0, 10**6, model.v_star))


@pytest.mark.parametrize("name", ["gripper", "blocks", "logistics", "miconic"])
def test_class_0_has_the_initial_state(name: str) -> None:
    instance = problem_class(name).make("train")[1]
    data, model = model_of(instance)
    start = collect(instance, [instance.initial_state], [0])
    assert model.members(0)[0] == 0
    assert sorted(data.atom_names(0)) == sorted(start.atom_names(0))


def test_a_model_of_one_of_several_instances() -> None:
    parts = [expanded(carry_all(n)) for n in (1, 2)]
    both = join(parts)
    model = StateModel.of(both, transitions(both), 1)
    alone = StateModel.of(parts[1], transitions(parts[1]))
    assert model.instance == "gripper-2"
    assert model.state.tolist() == list(range(len(parts[0]), len(both)))
    assert {**model.to_json(), "instance": ""} == {**alone.to_json(), "instance": ""}
    with pytest.raises(InputError, match="gripper-2: only some of its states are known"):
        StateModel.of(both.pick(np.arange(len(both) - 1)), transitions(both), 1)


def test_plain_data_of_a_model() -> None:
    data, model = model_of(carry_all(2))
    told = model.to_json()
    assert told["goals"] == [node for node, one in enumerate(told["nodes"]) if one["v_star"] == 0]
    assert sum(one["states"] for one in told["nodes"]) == told["states"] == len(data)
    assert {"source": 0, "target": 2, "schemas": ["pick"]} in told["transitions"]
    lost = replace(model, v_star=np.full(len(model), -1))
    assert {one["v_star"] for one in lost.to_json()["nodes"]} == {None}
    assert lost.layout()[:, 0].tolist() == [0.0] * len(model)


@pytest.mark.parametrize("n", [1, 3])
def test_the_layout_has_a_column_for_each_value_and_no_two_classes_in_one_place(n: int, tmp_path) -> None:
    _, model = model_of(carry_all(n))
    places = model.layout()
    assert len(np.unique(places, axis=0)) == len(model)
    order = np.argsort(places[:, 0], kind="stable")
    assert (np.diff(model.v_star[order]) <= 0).all()
    draw_state_model(model, tmp_path / "model.svg")
    first = (tmp_path / "model.svg").read_bytes()
    draw_state_model(model, tmp_path / "model.svg")
    assert first == (tmp_path / "model.svg").read_bytes()
    assert b"<svg" in first


def test_a_figure_has_a_largest_number_of_classes() -> None:
    many = np.arange(500)
    large = StateModel("large", many, many, many, np.zeros((0, 2), dtype=np.int64), ())
    with pytest.raises(InputError, match="large has 500 classes of states, and a figure shows at most 400"):
        check_drawable(large)
