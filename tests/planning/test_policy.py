import pytest

from distill.common import InputError
from distill.planning import (
    GAVE_UP,
    SOLVED,
    Instance,
    PlanResult,
    compare,
    execute,
    expand,
    find_plan,
    problem_class,
    validate,
)


def exact_value(instance: Instance):
    """V* as a value function on pymimir states, from the exhaustive labels."""
    data = expand(instance, 100_000)
    assert data is not None
    known = {frozenset(data.atom_names(i)): int(v) for i, v in enumerate(data.v_star)}
    names = frozenset.intersection(*known)

    def value(_: Instance, states) -> list[int]:
        found = (frozenset(f"({' '.join([n, *a])})" for n, a in instance.fluent_atoms(s)) for s in states)
        return [known[names | atoms] for atoms in found]

    return value


@pytest.mark.parametrize(
    "name", ["blocks-on", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gripper", "logistics"))]
)
def test_greedy_in_v_star_is_optimal(name: str) -> None:
    instance = problem_class(name).make("train")[2]
    outcome = execute(instance, exact_value(instance))
    assert outcome.status == SOLVED
    assert validate(instance, outcome.plan).valid
    assert len(outcome.plan) == len(find_plan("astar", instance).plan)


def test_visited_states_are_not_entered_again() -> None:
    """A constant value sends the policy through ever new states until it is stuck or done."""
    instance = problem_class("blocks-on").make("train")[3]
    outcome = execute(instance, lambda _, states: [0.0] * len(states))
    visited = instance.follow(instance.initial_state, outcome.plan)
    assert len(set(visited)) == len(visited)
    assert outcome.status == SOLVED or outcome.note.startswith("no unvisited successor")


def test_the_step_limit() -> None:
    instance = problem_class("gripper").make("test")[0]
    outcome = execute(instance, lambda _, states: [0.0] * len(states), max_steps=2)
    assert (outcome.status, len(outcome.plan), outcome.note) == (GAVE_UP, 2, "no goal within 2 steps")


def test_a_goal_state_needs_no_steps() -> None:
    domain = problem_class("blocks").domain
    task = (
        "(define (problem p) (:domain blocks) (:objects a) "
        "(:init (handempty) (ontable a) (clear a)) (:goal (clear a)))"
    )
    assert execute(Instance(domain, task, "p"), lambda _, states: [0.0]).plan == ()


def test_comparison_counts_what_was_solved() -> None:
    instances = problem_class("blocks-clear").make("train")[5:8]
    plans = {i.name: find_plan("astar", i) for i in instances}

    def lazy(instance: Instance) -> PlanResult:
        return plans[instance.name] if instance is not instances[0] else PlanResult(GAVE_UP)

    best, worse = compare(instances, {"best": lambda i: plans[i.name], "lazy": lazy})
    lengths = [len(plans[i.name].plan) for i in instances]
    assert (best.solved, best.total_length, best.longest) == (3, sum(lengths), max(lengths))
    assert (worse.solved, worse.lengths) == (2, (None, *lengths[1:]))
    assert best.common_length == worse.common_length == sum(lengths[1:])


def test_comparison_trusts_no_plan() -> None:
    [instance] = problem_class("blocks-clear").make("train")[6:7]
    with pytest.raises(InputError, match="the plan of liar is wrong"):
        compare([instance], {"liar": lambda _: PlanResult(SOLVED, ("(teleport b1)",))})
