"""Shortest formulas with the same truth on the data: right, never larger, none is shorter."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.logic import Evaluator, QuotientEvaluator, pack, parse, resynthesise, syntax as fo, unpack
from distill.logic.notation.parser import parse_relation
from distill.logic.search.row_relations import row_relations
from distill.logic.search.synthesis import Synthesiser
from distill.logic.semantics.denotations import Denotations, apart, transpose
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.naive import small_comparisons, small_truths
from tests.support.small_states import TALL, built_from
from tests.support.strategies import WORDS, batches, permutations

BLOCKS = Vocabulary(
    [Predicate("clear", 1), Predicate("on", 2), Predicate("clear_G", 1, "goal"), Predicate("on_G", 2, "goal")]
)
TOWERS = Structures(
    BLOCKS,
    3,
    [0] * 6 + [1] * 4 + [2] * 3,
    {
        "on": [[0, 1], [1, 2], [2, 3], [4, 5], [6, 7], [7, 8], [10, 11]],
        "clear": [[0], [4], [6], [9], [10], [12]],
        "clear_G": [[2], [8]],
        "on_G": [[0, 1], [5, 4], [7, 8], [9, 6], [10, 12], [12, 11]],
    },
)


@settings(max_examples=80)
@given(batches(), small_truths, st.sampled_from([40, 100_000]))
def test_says_the_same_and_is_never_larger(batch, target, at_most):
    evaluator = Evaluator(batch)
    found = resynthesise(target, evaluator, largest=6, at_most=at_most)
    assert found.formula.size <= target.size
    assert np.array_equal(evaluator.holds(found.formula), evaluator.holds(target))
    assert found.sentence == f"equivalent on {batch.n_objects} objects"
    assert 0 < found.checked_size <= 6


@settings(max_examples=40)
@given(batches(), small_truths, st.booleans())
def test_on_quotients(batch, target, joint):
    quotient = built_from(batch, None, joint).quotient
    evaluator = QuotientEvaluator(quotient)
    try:
        expected = evaluator.holds(target)
    except InputError:
        return
    found = resynthesise(target, evaluator, largest=6)
    assert found.formula.size <= target.size
    assert np.array_equal(evaluator.holds(found.formula), expected)
    assert found.sentence == f"equivalent on {len(quotient.layers[-1])} classes"


@settings(max_examples=40)
@given(batches(), small_comparisons, small_truths)
def test_states_and_numbers(batch, truth, counted):
    evaluator = Evaluator(batch)
    target = fo.Sum(fo.Product(fo.Indicator(truth), fo.Count(counted)), fo.Scaled(2, fo.Count(~counted)))
    synthesiser = Synthesiser(evaluator)
    found = synthesiser.resynthesise(target, largest=5).formula
    assert found.size <= target.size
    assert np.array_equal(evaluator.number(found), evaluator.number(target))
    found = synthesiser.resynthesise(truth, largest=5).formula
    assert np.array_equal(evaluator.holds(found), evaluator.holds(truth))


@given(batches(min_objects=1), small_truths, st.data())
def test_object_order_changes_nothing(batch, target, data):
    mixed = batch.relabel(data.draw(permutations(batch)))
    found = [resynthesise(target, Evaluator(one), largest=5).formula for one in (batch, mixed)]
    assert found[0] is found[1]


def all_formulas(atoms, relations, thresholds, largest):
    """Every formula by size, nothing left out."""
    sizes = defaultdict(set, {1: {fo.Top(), *map(fo.Atom, atoms)}})
    for size in range(2, largest + 1):
        sizes[size] |= {fo.Not(one) for one in sizes[size - 1]}
        for relation in relations:
            for threshold in range(thresholds + 1):
                before = size - relation.size - (threshold > 0)
                sizes[size] |= {fo.Modal(relation, one, threshold) for one in sizes[before]}
        for left in range(1, size - 1):
            for one in sizes[left]:
                for other in sizes[size - 1 - left]:
                    sizes[size] |= {made for made in (one & other, one | other) if made.size == size}
    return sizes


@pytest.mark.parametrize(
    ("relations", "thresholds", "closures", "largest"),
    [(["on", "on^-1"], 1, False, 6), (["on", "on^-1", "on+", "on*", "on^-1+", "on^-1*"], 0, True, 5)],
)
def test_as_short_as_an_exhaustive_search(relations, thresholds, closures, largest):
    words = Vocabulary([Predicate("clear", 1), Predicate("on", 2)])
    batch = Structures(
        words,
        2,
        [0] * 5 + [1] * 3,
        {"on": [[0, 1], [1, 2], [0, 3], [3, 4], [4, 3], [5, 6]], "clear": [[0], [4], [7]]},
    )
    evaluator = Evaluator(batch)
    roles = [parse_relation(text) for text in relations]
    shortest: dict[bytes, fo.Truth] = {}
    longest: dict[bytes, fo.Truth] = {}
    for _, formulas in sorted(all_formulas(["clear"], roles, thresholds, largest).items()):
        for formula in sorted(formulas):
            key = evaluator.holds(formula).tobytes()
            shortest.setdefault(key, formula)
            longest[key] = formula
    assert len(shortest) > 50
    shared = Synthesiser(evaluator, thresholds=thresholds, closures=closures)
    for number, (key, target) in enumerate(longest.items()):
        found = shared.resynthesise(target, largest=largest)
        assert found.formula.size == shortest[key].size
        assert found.checked_size == largest
        if number % 10 == 0:  # what is not kept yet is only recognised, by another way
            alone = resynthesise(target, evaluator, thresholds=thresholds, closures=closures)
            assert alone.formula.size == shortest[key].size


BLOATED = [
    ("<on>(clear_G | <on>(clear_G | <on>(clear_G | <on+>clear_G)))", "<on+>clear_G"),
    ("~(~<on>(top & <on>top) | <on^-1>clear) | (<on>clear & ~clear & <on>~clear)", None),
    ("(<on & on_G>top & clear) | (<on & on_G>top & ~clear & <on_G>top)", "<on & on_G>top"),
    ("~~(clear & (clear | <on>top)) & (<on_G>top | <on_G^-1>top | clear)", "clear"),
]


@pytest.mark.parametrize(("text", "short"), BLOATED)
def test_what_is_bloated_becomes_short(text, short):
    on_states = Evaluator(TOWERS)
    on_rows = QuotientEvaluator(built_from(TOWERS, None, joint=True).quotient)
    for evaluator in (on_states, on_rows):
        found = resynthesise(parse(text), evaluator)
        assert np.array_equal(evaluator.holds(found.formula), evaluator.holds(parse(text)))
        assert found.formula.size < parse(text).size
        if short:
            assert found.formula is parse(short)


def test_inside_value_functions():
    found = resynthesise(
        parse("2*#(<on>(clear | ~clear) & <on+>~~clear_G) + [#(clear | ~clear) > 1]"), Evaluator(TOWERS)
    )
    assert found.formula is parse("2*#<on+>clear_G + [#top > 1]")
    assert found.sentence == "equivalent on 13 objects"
    assert resynthesise(
        parse("dist(clear & ~~clear, on, clear_G & top)"), Evaluator(TOWERS)
    ).formula is parse("dist(clear, on, clear_G)")


def test_a_predicate_that_never_holds_is_no_name_for_nothing():
    batch = Structures(WORDS, 1, [0, 0], {"on": [[0, 1]]})
    assert resynthesise(parse("<on>(<on>top & <on^-1>top)"), Evaluator(batch)).formula is fo.BOTTOM


def test_limits_are_told():
    random = np.random.default_rng(5)
    atoms = {p.name: random.integers(0, 60, (40, p.arity)) for p in BLOCKS}
    evaluator = Evaluator(Structures(BLOCKS, 1, [0] * 60, atoms))
    target = parse("(<on>(clear | <on_G>top) & ~<on^-1>(clear & <on_G>clear)) | (clear_G & ~<on_G><on>top)")
    told: list[tuple[int, int]] = []
    found = resynthesise(target, evaluator, at_most=500, progress=lambda *state: told.append(state))
    assert told[-1] == (len(told), 500)
    assert found.checked_size == len(told)  # all up to the size before, and one step on
    assert np.array_equal(evaluator.holds(found.formula), evaluator.holds(target))
    found = resynthesise(parse("clear & (clear_G | ~<on>top) & (clear_G | <on>top)"), evaluator, at_most=10)
    assert found.formula is parse("clear & clear_G")
    assert resynthesise(target, evaluator, largest=2).checked_size == 2
    with pytest.raises(InputError, match="stable quotient"):
        Synthesiser(QuotientEvaluator(built_from(TALL, 2).quotient))


def test_only_steps_that_can_be_taken():
    def names(evaluator, closures=False):
        return {str(step.relation) for step in row_relations(evaluator, closures)}

    plain, joint = (QuotientEvaluator(built_from(TOWERS, None, way).quotient) for way in (False, True))
    assert names(plain) == {"on", "on^-1", "on_G", "on_G^-1"}
    assert names(joint) == names(Evaluator(TOWERS)) > names(plain)
    assert "on+" in names(plain, True)


def test_marked_goals_are_known_together():
    words = Vocabulary([Predicate("on", 2), Predicate("on_G", 2, "goal")]).marked()
    batch = Structures(words, 1, [0] * 4, {"on": [[0, 1]], "on_G,T": [[0, 1]], "on_G,F": [[1, 2]]})
    for evaluator in (Evaluator(batch), QuotientEvaluator(built_from(batch, None, True).quotient)):
        target = parse("(<on_G,T>top | <on_G,F>top) & (<on>top | ~<on>top)")
        assert resynthesise(target, evaluator).formula is parse("<on_G>top")


@given(batches(), small_truths, st.integers(0, 2), st.randoms(use_true_random=False))
def test_steps_lead_where_modals_say(batch, formula, threshold, random):
    evaluator = Evaluator(batch)
    inside = np.array([[random.random() < 0.5 for _ in range(batch.n_objects)] for _ in range(70)])
    inside = np.concatenate([inside.reshape(70, -1), evaluator.holds(formula)[None]])
    for step in row_relations(evaluator, True):
        if step.is_closure and threshold:
            continue
        expected = evaluator.holds(fo.Modal(step.relation, formula, threshold))
        found = step.steps_into(inside.T, threshold).T
        assert np.array_equal(found[-1], expected)
        first = next(i for i, row in enumerate(found) if np.array_equal(row, expected))
        columns = transpose(pack(inside), batch.n_objects)
        assert step.has_steps(expected, threshold)
        assert step.find_set(columns, len(inside), expected, threshold) == first


@given(st.integers(0, 130), st.integers(1, 90), st.integers(0, 99))
def test_packed_sets(width, height, seed):
    random = np.random.default_rng(seed)
    holds = random.random((height, width)) < random.choice([0.05, 0.5])
    words = pack(holds)
    assert np.array_equal(unpack(words, width), holds)
    assert np.array_equal(unpack(transpose(words, width), height), holds.T)
    other = random.random((50, width)) < 0.1
    disjoint = ~(holds.astype(int) @ other.T.astype(int) > 0)
    found = apart(words, pack(other), width)
    assert found == (tuple(np.argwhere(disjoint)[0].tolist()) if disjoint.any() else None)


@pytest.mark.parametrize("clash", [False, True])
def test_sets_are_kept_once_whatever_their_hashes(monkeypatch, clash):
    if clash:
        monkeypatch.setattr(
            "distill.logic.semantics.denotations.hashes", lambda words: np.zeros(len(words), dtype=np.uint64)
        )
    random = np.random.default_rng(3)
    kept, seen = Denotations(5, 1_000), {}
    for _ in range(6):
        holds = random.random((20, 5)) < 0.5
        new = kept.add(pack(holds))
        for number, row in enumerate(holds):
            assert (number in new) == (row.tobytes() not in seen)
            seen.setdefault(row.tobytes(), len(seen))
        for key, number in seen.items():
            assert kept.find(pack(np.frombuffer(key, dtype=bool)[None])[0]) == number
