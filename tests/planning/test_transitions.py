"""Transitions are kept with the states of instances that were expanded fully, and can be found again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from distill.planning import (
    Domain,
    Instance,
    Labelling,
    expand,
    label,
    prepare,
    problem_class,
    sample,
    successors,
    transitions,
)
from distill.structures import V_STAR, DataSet, join, write_archive
from tests.support.pddl import ODD, TASK

TOWER = """(define (problem tower) (:domain blocks) (:objects a b)
 (:init (handempty) (on a b) (ontable b) (clear a)) (:goal (and (clear b))))"""


def named(data: DataSet) -> set[tuple[frozenset[str], str, frozenset[str]]]:
    """Transitions as atoms before, action, atoms after."""
    found = transitions(data)
    names = found.action_names([instance["objects"] for instance in data.instances])
    return {
        (frozenset(data.atom_names(source)), names[action], frozenset(data.atom_names(target)))
        for source, target, action in zip(found.source, found.target, found.action, strict=True)
    }


def test_two_blocks_by_hand() -> None:
    data = expand(Instance(problem_class("blocks-clear").domain, TOWER, "tower"), 100)
    assert data is not None
    goal = {"(clear_G b)"}
    a_on_b = frozenset({"(on a b)", "(ontable b)", "(clear a)", "(handempty)"})
    b_on_a = frozenset({"(on b a)", "(ontable a)", "(clear b)", "(handempty)"})
    table = frozenset({"(ontable a)", "(ontable b)", "(clear a)", "(clear b)", "(handempty)"})
    hold_a = frozenset({"(holding a)", "(ontable b)", "(clear b)"})
    hold_b = frozenset({"(holding b)", "(ontable a)", "(clear a)"})
    expected = {
        (a_on_b, "(unstack a b)", hold_a),
        (hold_a, "(stack a b)", a_on_b),
        (hold_a, "(putdown a)", table),
        (table, "(pickup a)", hold_a),
        (table, "(pickup b)", hold_b),
        (hold_b, "(putdown b)", table),
        (hold_b, "(stack b a)", b_on_a),
        (b_on_a, "(unstack b a)", hold_b),
    }
    found = {(before - goal, action, after - goal) for before, action, after in named(data)}
    assert found == expected


@pytest.mark.parametrize("name", ["gripper", "miconic", "blocks-on"])
def test_what_is_kept_is_what_states_lead_to(name: str) -> None:
    instance = problem_class(name).make("train")[0]
    data = expand(instance, 10_000)
    assert data is not None
    assert data.transitions is not None
    after = {tuple(sorted(data.atom_names(state))): state for state in range(len(data))}
    names = data.transitions.action_names([instance.objects])
    kept = {
        (action, target)
        for action, target, source in zip(
            (names[one] for one in data.transitions.action),
            data.transitions.target,
            data.transitions.source,
            strict=True,
        )
        if source == 0
    }
    first = successors(instance, [instance.initial_state])
    reached = [after[tuple(sorted(first.data.atom_names(place)))] for place in range(len(first))]
    assert kept == set(zip(first.actions, reached, strict=True))
    assert list(first.actions) == sorted(first.actions)


def test_successors_of_many_states_are_those_of_each() -> None:
    instance = problem_class("gripper").make("train")[0]
    first = successors(instance, [instance.initial_state])
    both = successors(instance, first.states)
    for place, state in enumerate(first.states):
        alone = successors(instance, [state])
        mine = np.flatnonzero(both.source == place)
        assert [both.actions[i] for i in mine] == list(alone.actions)
        assert [both.states[i] for i in mine] == list(alone.states)
    assert both.data.labels == {}
    assert len(successors(instance, []).data) == 0


def same_transitions(one: DataSet, other: DataSet) -> None:
    first, second = transitions(one), transitions(other)
    assert first.schemas == second.schemas
    for name, array in first.arrays().items():
        assert np.array_equal(array, second.arrays()[name])


def test_kept_and_found_again_they_are_the_same(tmp_path: Path) -> None:
    """A set of several instances, of which one was sampled."""
    split = problem_class("blocks-clear").split("train")
    few = replace(split, instances=split.instances[:3], labelling=Labelling(max_states=30, walks=2))
    data, file = prepare(few, reduce="none", cache=tmp_path)
    assert [one["exhaustive"] for one in data.instances] == [True, True, False]
    assert data.transitions is not None
    same_transitions(data, replace(data, transitions=None))
    loaded = DataSet.load(file)
    assert loaded.transitions is not None
    same_transitions(loaded, data)
    assert transitions(data).source.max() < (data.state_instance < 2).sum()
    again = replace(data, transitions=None)
    same_transitions(replace(again, transitions=transitions(again, few.instances)), data)


def test_a_key_and_the_files_of_others_do_not_depend_on_them(tmp_path: Path) -> None:
    data = expand(problem_class("blocks-clear").make("train")[0], 100)
    assert data is not None
    without = replace(data, transitions=None)
    assert data.key == without.key
    assert data.same_as(without)
    for name, one in {"with.npz": data, "without.npz": without}.items():
        one.save(tmp_path / name)
    assert (tmp_path / "with.npz").read_bytes() == (tmp_path / "without.npz").read_bytes()
    assert DataSet.load(tmp_path / "with.npz").transitions is None


def test_a_part_of_the_states_has_no_transitions() -> None:
    parts = [expand(instance, 100) for instance in problem_class("blocks-clear").make("train")[:2]]
    both = join(part for part in parts if part is not None)
    assert both.pick(np.arange(len(both))).transitions is both.transitions is not None
    some = both.pick(np.arange(1, len(both)))
    assert some.transitions is None
    # The second instance still has all its states.
    found = transitions(some)
    assert len(found) == len(transitions(parts[1]))
    assert set(some.state_instance[found.source]) == {1}
    sampled = sample(problem_class("blocks-clear").make("train")[2], Labelling(walks=2), 10)
    assert sampled.transitions is None
    assert len(transitions(sampled)) == 0


def test_actions_of_any_domain_are_named_as_in_plans() -> None:
    instance = Instance(Domain(ODD), TASK, "odd")
    data = label(instance, Labelling())
    names = set(transitions(data).action_names([instance.objects]))
    taken = {instance.initial_state}
    seen: set[str] = set()
    todo = list(taken)
    while todo:
        after = successors(instance, [todo.pop()])
        seen |= set(after.actions)
        todo += [state for state in after.states if state not in taken]
        taken |= set(after.states)
    assert names == seen


def test_files_from_before_open(tmp_path: Path) -> None:
    """A file as it was before labels had names and transitions were kept."""
    data = expand(problem_class("blocks-clear").make("train")[1], 100)
    assert data is not None
    names = ["atom_predicate", "atom_arguments", "atom_offsets", "n_fixed", "state_instance", "state_offsets"]
    arrays = {name: getattr(data, name) for name in [*names, "state_atoms"]}
    arrays |= {"v_star": data.labels[V_STAR], "multiplicity": data.multiplicity}
    metadata = {
        "kind": "labelled states",
        "origin": {},
        "vocabulary": data.vocabulary.to_json(),
        "domain": data.domain,
        "instances": list(data.instances),
    }
    write_archive(tmp_path / "old.npz", arrays, metadata)
    old = DataSet.load(tmp_path / "old.npz")
    assert old.same_as(data)
    same_transitions(old, data)
    data.save(tmp_path / "new.npz")
    assert (tmp_path / "new.npz").read_bytes() == (tmp_path / "old.npz").read_bytes()
    labelled = replace(data, labels={**data.labels, "class": data.v_star % 2})
    labelled.save(tmp_path / "labelled.npz")
    assert DataSet.load(tmp_path / "labelled.npz").same_as(labelled)
    assert labelled.key != data.key
