import itertools
from pathlib import Path

import numpy as np
import pytest

from distill.common import InputError
from distill.planning import Domain, Instance, Labelling, collect, expand, label, problem_class
from distill.structures import UNSOLVABLE, DataSet, Structures, concatenate, join

CLASSES = ["blocks-on", "gripper", "miconic", "visitall", "logistics"]


def small(name: str, count: int = 3) -> DataSet:
    settings = Labelling(max_states=2000, walk_length=5)
    return join(label(instance, settings) for instance in problem_class(name).make("train")[:count])


def atom_by_atom(instance: Instance, states: list, goal_marking: bool) -> list[set[tuple]]:
    """The slow encoder: one atom at a time, straight from pymimir."""
    types = {p.name for p in instance.domain.vocabulary() if p.role == "type"}
    encoded = []
    for state in states:
        true = {*instance.fluent_atoms(state), *((n, a) for n, a in instance.facts if n not in types)}
        atoms = {*true, *instance.facts}
        for name, arguments, _ in instance.goals:
            mark = (",T" if (name, arguments) in true else ",F") if goal_marking else ""
            atoms.add((f"{name}_G{mark}", arguments))
        encoded.append(atoms)
    return encoded


@pytest.mark.parametrize("goal_marking", [False, True])
@pytest.mark.parametrize("name", CLASSES)
def test_bulk_encoding_equals_atom_by_atom(name: str, goal_marking: bool) -> None:
    instance = problem_class(name).make("train")[1]
    states = [instance.initial_state, *(after for _, after in instance.successors(instance.initial_state))]
    batch = collect(instance, states, np.zeros(len(states))).structures(goal_marking=goal_marking)
    decoded = [set(batch.decode(i, instance.objects)) for i in range(len(batch))]
    assert decoded == atom_by_atom(instance, states, goal_marking)


@pytest.mark.parametrize("name", CLASSES)
def test_joining_and_encoding_commute(name: str) -> None:
    parts = [small(name, 1), small(name, 2)]
    assert join(parts).structures() == concatenate([part.structures() for part in parts])


def test_any_selection_of_states_can_be_encoded() -> None:
    data = small("blocks-on", 4)
    whole = data.structures(goal_marking=True)
    chosen = np.random.default_rng(0).permutation(len(data))[:50]
    assert data.structures(chosen, goal_marking=True) == whole[chosen]
    assert data.structures(slice(3, 9), goal_marking=True) == whole[3:9]
    assert data.pick(np.sort(chosen)).structures(goal_marking=True) == whole[np.sort(chosen)]


@pytest.mark.parametrize("name", CLASSES)
def test_save_and_load(name: str, tmp_path: Path) -> None:
    data = small(name)
    data.save(tmp_path / "a.npz")
    again = DataSet.load(tmp_path / "a.npz")
    assert again.same_as(data)
    assert again.structures() == data.structures()
    again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_stored_pddl_makes_the_same_states_again() -> None:
    data = small("logistics", 1)
    [stored] = data.instances
    again = expand(Instance(Domain(data.domain), stored["pddl"], stored["name"]), 100_000)
    assert again is not None
    assert set(map(frozenset, map(again.atom_names, range(len(again))))) == set(
        map(frozenset, map(data.atom_names, range(len(data))))
    )
    assert stored["parameters"] == {"generator": "logistics", "objects": 10, "cities": 2, "places": 2}


def test_distinct_keeps_one_of_each_state() -> None:
    task = "(define (problem p) (:domain blocks) (:objects a b c) (:init {}) (:goal (clear {})))"
    tower = "(handempty) (ontable a) (on b a) (on c b) (clear c)"
    flat = "(handempty) (ontable a) (ontable b) (ontable c) (clear a) (clear b) (clear c)"
    domain = problem_class("blocks").domain
    texts = [task.format(tower, "a"), task.format(flat, "a"), task.format(flat, "b")]
    parts = [label(Instance(domain, text, "p"), Labelling()) for text in texts]
    data = join(parts)
    kept = data.distinct()
    # Towers of three blocks: 13 without and 9 with a block in hand; the goals make two sets of them.
    assert (len(data), len(kept)) == (66, 44)
    assert kept.multiplicity.tolist() == [2] * 22 + [1] * 22
    assert kept.distinct().same_as(kept)
    assert [kept.summary()[key] for key in ("states", "distinct_states")] == [66, 44]
    names = [frozenset(data.atom_names(i)) for i in range(len(data))]
    assert {frozenset(kept.atom_names(i)) for i in range(len(kept))} == set(names)


def test_weights_make_every_value_equally_likely() -> None:
    data = small("blocks-on", 5)
    weights = data.weights()
    totals = [weights[data.v_star == value].sum() for value in np.unique(data.v_star)]
    assert np.allclose(totals, len(data))


def test_a_set_may_be_empty() -> None:
    instance = problem_class("blocks-on").make("train")[3]
    empty = collect(instance, [], [], unlabelled=5)
    assert len(empty) == len(empty.structures()) == len(empty.distinct()) == 0
    assert empty.summary()["unlabelled_instances"] == 1
    both = join([empty, small("blocks-on", 1)])
    assert len(both) == len(small("blocks-on", 1))


def test_sets_of_two_domains_do_not_mix() -> None:
    with pytest.raises(InputError, match="different domains"):
        join([small("gripper", 1), small("visitall", 1)])
    with pytest.raises(InputError, match="no instances"):
        join([])


def test_summaries_add_up() -> None:
    data = small("blocks-on", 4)
    summary = data.summary()
    assert summary["states"] == len(data) == sum(i["states"] for i in data.instances)
    assert summary["max_v_star"] == data.v_star.max() > 0
    assert not (data.v_star == UNSOLVABLE).any()


def test_object_order_is_that_of_the_instance() -> None:
    data = small("miconic", 2)
    for state in range(0, len(data), 7):
        objects = data.instances[data.state_instance[state]]["objects"]
        batch: Structures = data.structures([state])
        named = {(name, tuple(objects[i] for i in args)) for name, args in batch.decode(0)}
        assert {f"({' '.join(itertools.chain([n], a))})" for n, a in named} == set(data.atom_names(state))
