"""Exhaustive verification against brute force: pymimir expands every layout, formulas go object by object."""

import numpy as np
import pytest

from distill.common import InputError
from distill.logic import parse
from distill.planning import Instance, InstanceFamilies, all_layouts, expand, problem_class, transitions
from distill.structures import UNSOLVABLE
from distill.symmetry import canonical_forms, object_graphs
from distill.verification import Counterexample, Verifier, exhaustive
from distill.verification.irrelevant_predicates import find_irrelevant_predicates, goal_only
from tests.support.naive import Naive
from tests.support.pddl import RIGHT, maze


def brute_force(problem, value, max_objects):
    """Every state of every layout, none left out: all that are wrong, as (objects, V*, atoms, form)."""
    families = InstanceFamilies(problem.domain)
    name = problem.domain.pymimir.get_name()
    found = set()
    for n in range(1, max_objects + 1):
        texts = {one.to_pddl("p", name) for listed in all_layouts(problem, n) for one in listed.each()}
        for text in sorted(texts):
            instance = Instance(problem.domain, text, "p")
            data = expand(instance, 100_000)
            batch = data.structures()
            values = np.array([Naive(batch[[state]]).value(value, 0) for state in range(len(data))])
            wrong = (values != data.v_star) | ((values == 0) != (data.v_star == 0))
            for before, after in _greedy(data, values):
                wrong[before] |= data.v_star[after] != data.v_star[before] - 1
            for state in np.flatnonzero(wrong):
                atoms = [
                    a
                    for a in batch.decode(int(state))
                    if families.vocabulary[a[0]].role in ("state", "nullary")
                ]
                [form] = canonical_forms(object_graphs(batch[[state]]))
                found.add((n, int(data.v_star[state]), len(atoms), form))
    return found


def _greedy(data, values):
    """Every successor of least value, of all states but goals."""
    after = {}
    steps = transitions(data)
    for source, target in zip(steps.source.tolist(), steps.target.tolist(), strict=True):
        after.setdefault(source, set()).add(target)
    for source, targets in after.items():
        if data.v_star[source] > 0:
            least = min(values[target] for target in targets)
            yield from ((source, target) for target in targets if values[target] == least)


@pytest.mark.parametrize(
    ("name", "most", "states"),
    [("blocks-clear", 6, 8077), ("blocks-on", 5, 1018), ("gripper", 8, 921), ("miconic", 5, 280)],
)
def test_right_functions_are_right_in_all_states(name, most, states):
    done = Verifier(parse(RIGHT[name]), ignore_irrelevant=False).problem(problem_class(name), most)
    assert done.holds
    assert done.wrong == {"value": 0, "greedy": 0, "goal": 0}
    # Classes stand for as many states as a full expansion finds.
    assert done.total("states") == states


@pytest.mark.parametrize(("name", "objects"), [("blocks-on", 5), ("gripper", 7), ("miconic", 5)])
def test_states_before_reduction_are_those_of_pymimir(name, objects):
    problem = problem_class(name)
    done = Verifier(parse(RIGHT[name]), ignore_irrelevant=False).problem(problem, objects)
    records = [record for size in done.sizes for record in size.records]
    assert records
    for record in records[-20:]:
        text = done.checker.families.to_pddl(record.family, record.family.starts[0], "p")
        data = expand(Instance(problem.domain, text, "p"), 100_000)
        assert (record.states, record.max_v_star) == (len(data), data.v_star.max())


@pytest.mark.parametrize(
    ("name", "wrong", "most"),
    [
        # a weight that is one too small, and a closure that became two steps
        ("blocks-clear", "#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)", 4),
        (
            "blocks-clear",
            "2*#(<on>clear_G | <on><on>clear_G) - #<on>clear_G + #holding * #(clear_G & ~clear)",
            4,
        ),
        ("blocks-on", RIGHT["blocks-on"].replace("- 2*#(clear", "- #(clear"), 3),
        ("gripper", RIGHT["gripper"].replace("2*#<at^-1>", "3*#<at^-1>"), 5),
        ("miconic", RIGHT["miconic"].replace("-2*#(served", "-3*#(served"), 4),
        ("visitall", "#(visited_G & ~visited)", 4),
    ],
)
def test_the_smallest_counterexample_is_that_of_brute_force(name, wrong, most):
    problem, value = problem_class(name), parse(wrong)
    done = Verifier(value).problem(problem, most)
    assert not done.holds
    assert done.counterexample.rank == min(brute_force(problem, value, most))
    example = Counterexample(done, done.counterexample)
    batch = example.data.structures()
    assert Naive(batch).value(value, 0) == done.counterexample.value
    data = expand(example.instance, 10_000)
    assert done.counterexample.v_star in data.v_star
    assert sum(term.here for term in example.terms) == pytest.approx(done.counterexample.value)


def test_without_symmetry_the_same_is_found():
    problem = problem_class("blocks-on")
    value = parse(RIGHT["blocks-on"].replace("+ 3", "+ 2"))
    reduced = Verifier(value).problem(problem, 4, go_on=True)
    plain = Verifier(value, symmetry=False).problem(problem, 4, go_on=True)
    assert reduced.counterexample.rank == plain.counterexample.rank
    assert reduced.total("classes") < plain.total("classes")


def test_larger_instances_are_left_out_once_one_is_wrong_unless_asked_for():
    value, problem = parse("#holding"), problem_class("blocks-clear")
    stopped, whole = (Verifier(value).problem(problem, 4, go_on=on) for on in (False, True))
    assert (stopped.complete, whole.complete) == (False, True)
    # A single block, held or not, is no problem for it.
    assert [size.objects for size in stopped.sizes] == [1, 2]
    assert [size.objects for size in whole.sizes] == [1, 2, 3, 4]
    assert stopped.counterexample.rank == whole.counterexample.rank


def test_ties_do_not_help():
    # From a both b and c have the least value, but only b is a goal.
    instance = maze("ab ac cb", "(at b)")
    done = Verifier(parse("#(at & ~at_G) - #(at & <way^-1>at)")).instances([instance])
    assert done.wrong["greedy"] == 0
    tied = Verifier(parse("#<way>at")).instances([maze("ab ac ca", "(at b)")])
    assert tied.wrong["greedy"] > 0


def test_dead_ends_are_not_compared_but_are_no_goals():
    instance = maze("ab ac", "(at b)")
    right = Verifier(parse("#(at & ~at_G) + 4*#(at & ~at_G & ~<way>top)")).instances([instance])
    assert right.holds
    assert right.total("dead_ends") == 1
    wrong = Verifier(parse("#(at & ~at_G) - #(at & ~at_G & ~<way>top)")).instances([instance])
    assert wrong.wrong == {"value": 0, "greedy": 1, "goal": 1}
    assert wrong.counterexample.v_star in (1, UNSOLVABLE)


def test_atoms_without_objects_tell_states_apart():
    # Object graphs leave them out; the state in which the bell rang is another one.
    done = Verifier(parse("1 - [#bell > 0]")).instances([maze("aa", "(bell)", objects="a b")])
    assert done.total("classes") == 2
    assert done.holds


def test_names_change_nothing():
    text = problem_class("blocks-on").make("train")[2].text
    domain = problem_class("blocks-on").domain
    other = text.replace("b1", "x").replace("b2", "b1").replace("x", "b2").replace("b3", "zz")
    one, two = (Verifier(parse("#holding")).instances([Instance(domain, t, "p")]) for t in (text, other))
    assert one.counterexample.rank == two.counterexample.rank
    assert [r.digest for r in one.sizes[0].records] == [r.digest for r in two.sizes[0].records]
    both = Verifier(parse("#holding")).instances([Instance(domain, t, "p") for t in (text, other)])
    assert len(both.sizes[0].records) == 1


@pytest.mark.slow
def test_processes_change_nothing(monkeypatch):
    problem, value = problem_class("miconic"), parse(RIGHT["miconic"].replace("+ 3", "+ 4"))
    alone = Verifier(value, workers=1).problem(problem, 5, go_on=True)
    monkeypatch.setattr(exhaustive, "_WORTH_A_PROCESS", 5)
    monkeypatch.setattr(exhaustive, "_AT_ONCE", 3)
    spread = Verifier(value, workers=2).problem(problem, 5, go_on=True)
    assert spread.counterexample == alone.counterexample
    assert spread.sizes == alone.sizes


def test_what_is_set_aside_does_not_matter():
    problem, value = problem_class("visitall"), parse(RIGHT["visitall"])
    fast, whole = (
        Verifier(value, ignore_irrelevant=ignored).problem(problem, 5) for ignored in (True, False)
    )
    assert fast.checker.irrelevant_predicates == ["visited"]
    assert not whole.checker.irrelevant_predicates
    assert fast.holds
    assert whole.holds
    assert fast.total("classes") < whole.total("classes")
    assert [r.profile for s in fast.sizes for r in s.records] == [
        r.profile for s in whole.sizes for r in s.records
    ]


@pytest.mark.parametrize(
    ("formula", "only"),
    [
        ("#(visited_G & visited)", True),
        ("#(visited_G & ~(visited | at-robot))", True),
        ("#(visited_G & <connected>visited)", False),
        ("[#visited > 0] * #visited_G", False),
        ("#(visited_G | visited)", False),
        ("dist(visited, connected, visited_G)", False),
        ("#<connected+>(at-robot & visited_G & ~visited)", True),
    ],
)
def test_formulas_that_ask_only_with_the_goal(formula, only):
    assert goal_only(parse(formula), "visited") == only


def test_what_actions_look_at_is_never_set_aside():
    families = InstanceFamilies(problem_class("blocks-clear").domain)
    assert find_irrelevant_predicates(families, parse("#(clear_G & clear)")) == []


def test_too_many_states_are_refused():
    with pytest.raises(InputError, match="more than 20 states"):
        Verifier(parse(RIGHT["blocks-on"]), max_states=20).problem(problem_class("blocks-on"), 4)
    with pytest.raises(InputError, match="at least one"):
        Verifier(parse("#holding")).problem(problem_class("blocks-on"), 0)
    with pytest.raises(InputError, match="No instance has so few objects"):
        Verifier(parse("#free")).problem(problem_class("gripper"), 4)
