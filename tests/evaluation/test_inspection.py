"""One state of a run: terms, successors and plans against pymimir, labels and an independent replay."""

import numpy as np
import pytest

from distill.common import InputError
from distill.evaluation import Inspection, mark_best, states_with, subformulas
from distill.explanations import ValueFunction
from distill.logic import hand_made, parse, write
from distill.planning import Domain, Instance, expand, problem_class, validate
from distill.structures import UNSOLVABLE, join
from tests.support.pddl import ODD, TASK


def odd() -> Instance:
    return Instance(Domain(ODD), TASK, "odd")


def distilled(text: str, *, marked: bool = False) -> ValueFunction:
    return ValueFunction(parse(text), (), goal_marking=marked)


def hand_made_value(name: str, objects: int) -> ValueFunction:
    return ValueFunction(hand_made(name).value_function(objects), ())


def atoms(instance: Instance, state) -> frozenset:
    return frozenset(instance.fluent_atoms(state))


@pytest.mark.parametrize("marked", [False, True])
def test_contributions_add_up_to_the_value_of_every_state(marked) -> None:
    data = expand(problem_class("blocks-on").make("train")[4], 10_000)
    value = distilled(
        "2*#<on+>clear - 0.5*[#holding > 0] + #clear*#ontable - 3*#<on_G>top + 1.25", marked=marked
    )
    whole = value.values(data.structures(goal_marking=marked))
    looked = Inspection(data, 0, value)
    for number in range(0, len(data), 1 + len(data) // 150):
        state = looked.stored(number)
        terms = looked.terms(state)
        assert len(terms) == 5
        assert sum(term.contribution for term in terms) == pytest.approx(whole[number], abs=1e-9)
        assert looked.value(state) == whole[number]


@pytest.mark.parametrize("name", ["blocks-clear", "gripper", "logistics", "miconic"])
def test_successors_are_those_of_pymimir_with_stored_labels(name) -> None:
    data = join([expand(one, 30_000) for one in problem_class(name).make("train")[:2]])
    network = np.arange(len(data)) / 7
    number = len(data.instances) - 1
    looked = Inspection(data, number, distilled("#top"), network)
    instance = Instance(Domain(data.domain), data.instances[number]["pddl"], "again")
    reached = {atoms(instance, instance.initial_state): instance.initial_state}
    todo = list(reached.values())
    while todo and len(reached) < 300:
        for _, after in instance.successors(todo.pop()):
            if atoms(instance, after) not in reached:
                reached[atoms(instance, after)] = after
                todo.append(after)
    mine = np.flatnonzero(data.state_instance == number)
    compared = 0
    for stored in mine[:: max(1, len(mine) // 12)].tolist():
        state = looked.stored(stored)
        assert (state.number, state.v_star, state.network) == (
            stored,
            data.v_star[stored],
            network[stored],
        )
        found = looked.successors(state)
        assert [one.action for one in found] == sorted(one.action for one in found)
        here = reached.get(atoms(looked.instance, state.pymimir))
        if here is not None:
            compared += 1
            expected = {action: atoms(instance, after) for action, after in instance.successors(here)}
            assert {one.action: atoms(looked.instance, one.state.pymimir) for one in found} == expected
        for one in found:
            # All states were expanded, so each successor is there, with the same atoms.
            assert one.state.v_star == data.v_star[one.state.number]
            assert one.state.network == network[one.state.number]
            assert sorted(data.atom_names(one.state.number)) == sorted(
                f"({' '.join([word, *map(str, names)])})"
                for word, names in one.state.structure.decode(0, looked.objects)
            )
        if state.v_star > 0:
            assert (
                min(one.state.v_star for one in found if one.state.v_star != UNSOLVABLE) == state.v_star - 1
            )
    assert compared


@pytest.mark.parametrize(("name", "instance"), [("blocks-clear", 12), ("blocks-on", 12), ("gripper", 3)])
def test_the_greedy_plan_of_an_exact_value_is_shortest_and_validates(name, instance) -> None:
    data = expand(problem_class(name).make("train")[instance], 30_000)
    looked = Inspection(data, 0, hand_made_value(name, len(data.instances[0]["objects"])))
    for number in range(0, len(data), max(1, len(data) // 15)):
        state = looked.stored(number)
        plan = looked.plan(state)
        assert plan.solved
        assert len(plan.actions) == state.v_star
        begun = Instance(looked.instance.domain, looked.pddl(state), "begun")
        assert validate(begun, plan.actions).valid
        assert not validate(begun, plan.actions[:-1]).valid or not plan.actions
        visited = looked.along(state, plan.actions)
        assert [one.v_star for one in visited] == list(range(state.v_star, -1, -1))


def test_a_state_written_as_pddl_is_the_same_state_again() -> None:
    data = expand(odd(), 100)
    looked = Inspection(data, 0, distilled("#at"))
    for number in range(len(data)):
        text = looked.pddl(looked.stored(number))
        again = expand(Instance(Domain(ODD), text, "again"), 100)
        assert sorted(again.atom_names(0)) == sorted(data.atom_names(number))
        assert again.v_star[0] == data.v_star[number]


def test_dead_ends_goals_and_other_arities() -> None:
    data = expand(odd(), 100)
    value = "[#lit > 0] + #<seen[0,2]>top + 2*#at - #lit_nG"
    looked = Inspection(data, 0, distilled(value))
    seen = set()
    for number, v_star in enumerate(data.v_star.tolist()):
        state = looked.stored(number)
        terms = looked.terms(state)
        assert sum(term.contribution for term in terms) == looked.value(state)
        plan = looked.plan(state)
        if v_star == UNSOLVABLE:
            assert not plan.solved
            assert plan.note
        if v_star == 0:
            assert plan.solved
            assert plan.actions == ()
        waiting = [one for one in looked.successors(state) if one.action.startswith("(wait")]
        assert [one.state.number for one in waiting] == [number]
        assert [one.stays for one in waiting] == [True]
        seen.add(v_star)
    assert {UNSOLVABLE, 0, 1, 2, 3} <= seen
    assert looked.static >= {"way"}
    assert not looked.static & {"lit", "at", "seen"}


def test_a_state_that_is_not_stored_has_no_label() -> None:
    data = expand(odd(), 100)
    kept = np.flatnonzero(data.v_star != 1)
    looked = Inspection(data.pick(kept), 0, distilled("#at"), np.zeros(len(kept)))
    found = [one.state for n in range(len(kept)) for one in looked.successors(looked.stored(n))]
    unknown = [state for state in found if state.number is None]
    assert unknown
    assert {(state.v_star, state.network) for state in unknown} == {(None, None)}
    assert all(state.v_star == data.v_star[kept[state.number]] for state in found if state.number is not None)


def test_atoms_are_searched_in_all_states() -> None:
    data = join([expand(one, 20_000) for one in problem_class("blocks-on").make("train")[2:5]])
    data = data.pick(np.arange(0, len(data), 1 + len(data) // 200))
    for text in ("(on b1 b2)", "(on b1 b2) (clear b1)", "(handempty)", "(on_G b1 b2)", "(ONTABLE b3)", ""):
        wanted = set(text.replace("ONTABLE", "ontable").replace(") (", ")|(").split("|")) - {""}
        expected = [wanted <= set(data.atom_names(state)) for state in range(len(data))]
        assert states_with(data, text).tolist() == expected, text
    held = [any(atom.startswith("(holding") for atom in data.atom_names(i)) for i in range(len(data))]
    assert states_with(data, "(holding ?x)").tolist() == held
    assert 0 < sum(held) < len(data)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("on b1 b2", "is no atom"),
        ("(on b1", "is no atom"),
        ("()", "empty atom"),
        ("(onn b1 b2)", "did you mean on"),
        ("(on b1)", "takes 2 objects, not 1"),
        ("(on b1 zz)", "an object zz"),
    ],
)
def test_atoms_that_cannot_be_searched_are_told(text, told) -> None:
    data = expand(problem_class("blocks-on").make("train")[4], 20_000)
    with pytest.raises(InputError, match=told):
        states_with(data, text)


def test_states_and_instances_that_are_not_there_are_refused() -> None:
    data = join([expand(one, 20_000) for one in problem_class("blocks-on").make("train")[2:4]])
    with pytest.raises(InputError, match="no instance 2; choose from 0 to 1"):
        Inspection(data, 2, distilled("#clear"))
    looked = Inspection(data, 0, distilled("#clear"))
    for number in (-1, len(data) - 1, len(data)):
        with pytest.raises(InputError, match=f"no state {number}"):
            looked.stored(number)


def test_subformulas_are_about_objects_and_each_once() -> None:
    formula = parse("#(clear & <on>~clear) * [#<on>~clear > 1] + dist(holding, on, top)")
    assert [write(one) for one in subformulas(formula)] == [
        "clear",
        "holding",
        "~clear",
        "<on>~clear",
        "clear & <on>~clear",
    ]


def test_nothing_is_best_where_nothing_is_known() -> None:
    assert mark_best([None, None], [True, True]) == [False, False]
    assert mark_best([1.0, 2.0], [False, True]) == [False, True]
    assert mark_best([1.0, 1.0 + 1e-9, 1.1], [True] * 3) == [True, True, False]
    assert mark_best([], []) == []
