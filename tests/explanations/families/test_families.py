"""Families: the thesis's own, near-misses, and closed forms on structures of all shapes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.explanations import close_families, values_of
from distill.explanations.families.closing import check_family, find_families
from distill.explanations.families.family import WeightLine, line_from, line_through, longest_line
from distill.logic import Evaluator, Number, hand_made, parse
from distill.structures import Predicate, Structures, Vocabulary, concatenate

WORDS = Vocabulary(
    [Predicate("on", 2), Predicate("clear", 1), Predicate("clear_G", 1, "goal"), Predicate("holding", 1)]
)


def towers(*heights: int, goal: int = 0) -> Structures:
    """A state for each height: so many blocks above the goal block, and `goal` blocks below it."""
    states = []
    for height in heights:
        n = height + 1 + goal
        on = [[block, block + 1] for block in range(n - 1)]
        atoms = {"on": on or np.zeros((0, 2), int), "clear": [[0]], "clear_G": [[height]], "holding": []}
        atoms["holding"] = np.zeros((0, 1), int)
        states.append(Structures(WORDS, 1, [0] * n, atoms))
    return concatenate(states)


def steps(k: int, inside: str = "clear_G", relation: str = "on") -> str:
    return f"<{relation}>" * k + inside


def added(*terms: tuple[float, str]) -> Number:
    return parse(" + ".join(f"{weight}*{feature}" for weight, feature in terms))


def closed(value: Number, **data: Structures) -> Number:
    return close_families(value, data)[0]


def test_counts_along_a_relation_become_a_count_under_its_closure():
    value = added(*((2, f"#{steps(k)}") for k in range(1, 6)), (1, "#holding"))
    found, [closing] = close_families(value, {"train": towers(0, 1, 3, 5), "test": towers(9)})
    assert found is parse("2*#<on+>clear_G + #holding")
    assert closing.family.line == WeightLine(1, 5, 2, 0)
    assert closing.family.label == "closed form; extends beyond k=5"
    assert vars(closing.checks["test"]) == {"states": 1, "differing": 0, "beyond": 1, "changed": 1}
    # Nine blocks above: the family sees five of them.
    assert values_of([value, found], towers(9)).tolist() == [[10, 18]]


def test_a_family_that_begins_with_the_concept_itself_stays_there():
    value = added(*((3, f"#{steps(k)}") for k in range(4)))
    assert closed(value, train=towers(0, 1, 2, 3)) is parse("3*#<on*>clear_G")


def test_a_family_may_begin_later():
    value = added(*((1, f"#{steps(k)}") for k in range(2, 6)))
    assert closed(value, train=towers(0, 1, 3, 5)) is parse("#<on+><on>clear_G")


def test_the_thesis_function_of_blocks_clear():
    """2.3: (α ∧ H) + Σ (2k - 1) B_k, the pattern that 5.6.1 speaks of."""
    states = towers(0, 1, 2, 3, 4, goal=1)
    value = hand_made("blocks-clear").value_function(5)
    found, [closing] = close_families(value, {"train": states, "test": towers(8, 12)})
    assert (closing.family.line.offset, closing.family.line.slope) == (-1, 2)
    assert "[#holding > 0] & [#(clear_G & ~clear) > 0]" in str(found)
    assert found.size < value.size
    right = hand_made("blocks-clear").value_function(20)
    table = values_of([found, right], concatenate([states, towers(7, 8, 12)]))
    assert np.array_equal(table[:, 0], table[:, 1])
    assert Evaluator(towers(12)).number(value).tolist() == [0]


def grid(width: int, height: int, goal: tuple[int, int]) -> Structures:
    """Two states for each cell that the robot is in: it has visited that cell only, or the goal as well."""
    words = Vocabulary(
        [
            Predicate("connected", 2),
            Predicate("at-robot", 1),
            Predicate("visited", 1),
            Predicate("visited_G", 1, "goal"),
        ]
    )
    cells = [(x, y) for x in range(width) for y in range(height)]
    near = [
        [i, j]
        for i, one in enumerate(cells)
        for j, other in enumerate(cells)
        if abs(one[0] - other[0]) + abs(one[1] - other[1]) == 1
    ]
    states = []
    for robot, done in itertools.product(range(len(cells)), (False, True)):
        there = cells.index(goal)
        atoms = {"connected": near, "at-robot": [[robot]], "visited_G": [[there]]}
        atoms["visited"] = [[one] for one in {robot, *([there] if done else [])}]
        states.append(Structures(words, 1, [0] * len(cells), atoms))
    return concatenate(states)


def test_the_thesis_function_of_visitall_is_a_distance():
    """5.49: Σ k (α ∧ S_k); the largest distance in training is 5, elsewhere 9."""
    data = {"train": concatenate([grid(4, 3, (0, 0)), grid(3, 3, (1, 1))]), "test": grid(6, 5, (0, 0))}
    value = hand_made("visitall").value_function(6)
    found, [closing] = close_families(value, data)
    assert found is parse("dist(visited_G & ~visited, connected, at-robot)")
    assert (closing.family.how, closing.family.line) == ("distance", WeightLine(1, 5, 0, 1))
    assert vars(closing.checks["test"]) == {"states": 60, "differing": 0, "beyond": 10, "changed": 10}


def test_terms_that_look_nothing_like_each_other_are_seen_by_what_they_say():
    """As trees write it: each level in another way, weights spread over several terms."""
    states = towers(0, 1, 2, 3, 4)
    value = parse(
        "1.5*[#(clear_G & ~clear) > 0] + 0.5*[#(clear_G & <on^-1+>clear) > 0]"
        " + 2*[#<on+><on>clear_G > 0] + 2*[#<on><on><on>clear_G > 0] + 2*([#top > 4] & [#<on>top > 3])"
    )
    found, [closing] = close_families(value, {"train": states})
    assert len(closing.family.terms) == 5
    assert values_of([found], towers(0, 1, 4, 9)).ravel().tolist() == [0, 2, 8, 18]


def test_counts_by_level_where_several_objects_are_on_one():
    """Two blocks on the goal block's floor: a level of a forest has more than one object."""
    atoms = {"on": [[1, 0], [2, 0], [3, 1], [4, 3]], "clear_G": [[0]], "clear": [[2], [4]]}
    tree = Structures(WORDS, 1, [0] * 5, {**atoms, "holding": np.zeros((0, 1), int)})
    value = parse(
        "#(<on>clear_G & ~clear_G) + #(<on><on>clear_G & ~clear_G) + #(<on><on><on>clear_G & ~<on>clear_G)"
    )
    new, [closing] = close_families(value, {"train": concatenate([tree, towers(0, 1, 2, 3)])})
    assert closing.replaced
    assert values_of([new], concatenate([tree, towers(7)])).ravel().tolist() == [4, 7]


def test_a_sum_without_a_closed_form_is_carried_on():
    value = added(*((k, f"#{steps(k)}") for k in range(1, 5)))
    families = find_families(value, towers(0, 2, 4), [towers(6)])
    iterated = next(one for one in families if one.how == "iterated")
    assert iterated.notation == "sum over k=1..4 of k * #F_k where F_1 = <on>clear_G, F_k+1 = <on>F_k"
    assert not iterated.is_closed
    # 1 + 2 + … + 6, and the family itself ends at 1 + 2 + 3 + 4.
    assert values_of([value, iterated.closed], towers(6)).tolist() == [[10, 21]]


def test_a_step_may_be_more_than_a_modal():
    formulas = ["clear_G"]
    for _ in range(4):
        formulas.append(f"clear_G | <on>({formulas[-1]})")
    value = added(*((1, f"#~({one})") for one in formulas[1:]))
    families = find_families(value, towers(1, 2, 3, 5))
    assert any("F_k+1 = clear_G | <on>F_k" in one.notation for one in families)


def test_a_family_may_begin_after_a_gap():
    value = added((2, f"#{steps(1)}"), *((2, f"#{steps(k)}") for k in range(3, 7)))
    # Of the odd ones, 1, 3 and 5, there are three, two steps apart; four in a row are more.
    family = next(one for one in find_families(value, towers(*range(7))) if one.how == "iterated")
    assert (family.line.first, family.line.last) == (3, 6)


def test_a_step_that_changes_nothing_is_no_family():
    """clear | holding | holding is clear | holding: such a step comes back to where it was."""
    value = parse("#clear + #(clear | holding) + #(clear | clear_G | holding)")
    assert find_families(value, towers(0, 1, 2, 3)) == []


NEAR_MISSES = {
    "weights on no line": [(2, steps(1)), (2, steps(2)), (5, steps(3)), (2, steps(4)), (9, steps(5))],
    "a level is missing": [(2, steps(1)), (2, steps(2)), (2, steps(4)), (2, steps(5))],
    "two members only": [(2, steps(1)), (2, steps(2))],
    "another relation in between": [(2, steps(1)), (2, steps(2)), (2, "<on^-1><on><on>clear_G & holding")],
    "another concept": [(2, steps(1)), (2, steps(2, "holding")), (2, steps(3, "clear"))],
}


@pytest.mark.parametrize("terms", NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_near_misses_stay_as_they_are(terms):
    value = added(*((weight, f"#({formula})") for weight, formula in terms))
    found, closings = close_families(value, {"train": towers(0, 1, 2, 3, 4, 5, goal=2)})
    assert found is value
    assert not any(one.replaced for one in closings)


def test_a_closed_form_that_counts_otherwise_is_refused():
    """On a ring each object is reached again and again, so the closure counts it once, the family often."""
    ring = {"on": [[0, 1], [1, 2], [2, 0]], "clear_G": [[0]], "clear": np.zeros((0, 1), int)}
    states = Structures(WORDS, 1, [0] * 3, {**ring, "holding": np.zeros((0, 1), int)})
    value = added(*((2, f"#{steps(k)}") for k in range(1, 8)))
    found, closings = close_families(value, {"train": concatenate([states, towers(0, 2, 7)])})
    for one in closings:
        assert one.refused
    table = values_of([value, found], concatenate([states, towers(0, 2, 7)]))
    assert np.array_equal(table[:, 0], table[:, 1])


def test_what_differs_on_other_splits_is_refused_unless_only_training_counts():
    """Three counts that are levels in training; elsewhere one of them says something else."""
    value = parse("2*#<on>clear_G + 2*#<on><on>clear_G + 2*#(<on><on><on>clear_G & ~holding)")
    held = towers(3)
    odd = Structures(WORDS, 1, held.state_of_object, {**held.relations, "holding": [[0]]})
    data = {"train": towers(0, 1, 2, 3), "test": odd}
    same, [closing] = close_families(value, data)
    assert same is value
    assert closing.refused == "the two differ in 1 states of test"
    found, _ = close_families(value, data, equal_on="train")
    assert values_of([value, found], odd).tolist() == [[4, 6]]


def test_a_form_that_goes_beyond_in_training_must_not_be_worse():
    value = added(*((1, f"#{steps(k)}") for k in range(1, 4)))
    states = towers(0, 1, 2, 3, 6)
    same, [closing] = close_families(value, {"train": states})
    assert same is value
    assert "without a target" in closing.refused
    right, stops = np.array([0.0, 1, 2, 3, 6]), np.array([0.0, 1, 2, 3, 3])
    assert close_families(value, {"train": states}, right)[0] is parse("#<on+>clear_G")
    same, [closing] = close_families(value, {"train": states}, stops)
    assert same is value
    assert closing.refused == "the error on train would grow from 0.0000 to 0.6000"


@st.composite
def forests(draw) -> Structures:
    """Blocks in towers, some of them with a goal."""
    heights = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    ends = np.cumsum(heights)
    n = int(ends[-1])
    on = [[block, block + 1] for block in range(n - 1) if block + 1 not in ends]
    goals = draw(st.sets(st.integers(0, n - 1), max_size=1))
    atoms = {
        "on": on or np.zeros((0, 2), int),
        "clear": [[int(end - height)] for end, height in zip(ends, heights, strict=True)],
        "clear_G": [[one] for one in goals] or np.zeros((0, 1), int),
        "holding": np.zeros((0, 1), int),
    }
    return Structures(WORDS, 1, [0] * n, atoms)


@given(state=forests(), weight=st.integers(-3, 3).filter(bool), members=st.integers(3, 6))
@settings(max_examples=25)
def test_closed_forms_equal_their_families_where_chains_are_no_longer(state, weight, members):
    value = added(*((weight, f"#{steps(k)}") for k in range(1, members + 1)))
    families = find_families(value, towers(0, members))
    [iterated] = [one for one in families if one.how == "iterated"]
    check = check_family(iterated, state)
    assert check.differing == 0
    longest = Evaluator(state).number(parse(f"#<on+>{steps(members)}"))[0]
    assert (check.beyond > 0) == (longest > 0) == (check.changed > 0)


@given(
    st.lists(st.integers(-5, 5), min_size=3, max_size=8),
    st.integers(0, 3),
    st.integers(-4, 4),
    st.integers(-4, 4),
)
def test_lines(noise, first, offset, slope):
    weights = [offset + slope * (first + n) for n in range(len(noise))]
    assert line_through(weights, first) == WeightLine(first, first + len(noise) - 1, offset, slope)
    found = longest_line(noise, first)
    if found is not None:
        mine = noise[found.first - first : found.last - first + 1]
        assert mine == [found.weight(k) for k in range(found.first, found.last + 1)]


def test_a_line_ends_where_nothing_follows():
    assert line_from([5, 1, 2, 3, 5, 5], 1, silence=5) == WeightLine(1, 3, 0, 1)
    assert line_from([0, 1, 2, 3, 0, 1], 1) is None
    assert line_from([5, 5, 5, 5], 1, silence=5) is None


def test_bad_input():
    value, states = parse("#clear"), towers(1)
    with pytest.raises(InputError, match="choose from all, train"):
        close_families(value, {"train": states}, equal_on="some")
    with pytest.raises(InputError, match="no states"):
        close_families(value, {})
    with pytest.raises(InputError, match="no states"):
        find_families(value, states[:0])
    assert find_families(parse("3"), states) == []
