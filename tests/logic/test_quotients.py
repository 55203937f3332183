"""Evaluation on quotients equals evaluation on states wherever it is not refused."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.logic import Evaluator, QuotientEvaluator, parse, syntax as fo
from distill.structures import Options, Predicate, Structures, Vocabulary
from distill.symmetry import LabelledBatch, build_quotient
from tests.support.naive import comparisons, numbers, truths
from tests.support.small_states import TALL, TOWER, built_from
from tests.support.strategies import batches

depths = st.one_of(st.none(), st.integers(0, 3))


@given(batches(), truths, depths, st.booleans())
def test_truth_of_rows(batch, formula, depth, joint):
    built = built_from(batch, depth, joint)
    try:
        found = QuotientEvaluator(built.quotient).holds(formula)
    except InputError:
        return
    rows = built.rows(batch, built.quotient.depth)
    assert found[rows].tolist() == Evaluator(batch).holds(formula).tolist()


@given(batches(), st.one_of(numbers, comparisons), depths, st.booleans())
def test_numbers_of_state_rows(batch, feature, depth, joint):
    built = built_from(batch, depth, joint)
    evaluators = QuotientEvaluator(built.quotient), Evaluator(batch)
    ask = "number" if isinstance(feature, fo.Number) else "holds"
    try:
        found = getattr(evaluators[0], ask)(feature)
    except InputError:
        return
    assert found[built.state_row].tolist() == getattr(evaluators[1], ask)(feature).tolist()


PLAIN = ["clear", "<on>clear", "<on^-1>(<on>top > 1)", "<between[0,2]>clear", "<id>clear", "#<on>top"]
JOINT = ["<on & on_G>top", "<on_G \\ on>clear", "<(on | on_G) & ~on^-1>top"]
STABLE = ["<on+>clear", "<on^-1*>clear", "<on><on><on><on><on>top", "dist(clear, on, ~clear)"]
NEVER = ["<all>clear", "<~on>top", "<on+>top > 1", "<on & id>top", "<on | all>top"]


@pytest.mark.parametrize(
    ("texts", "depth", "joint", "allowed"),
    [
        (PLAIN, 2, False, True),
        (PLAIN, None, True, True),
        (JOINT, 2, True, True),
        (JOINT, None, False, False),
        (STABLE, None, False, True),
        (STABLE, 2, False, False),
        (NEVER, None, True, False),
    ],
)
def test_what_may_be_evaluated_where(texts, depth, joint, allowed):
    built = built_from(TALL, depth, joint)
    assert built.quotient.stable == (depth is None)
    for text in texts:
        evaluator, formula = QuotientEvaluator(built.quotient), parse(text)
        ask = evaluator.number if isinstance(formula, fo.Number) else evaluator.holds
        if allowed:
            ask(formula)
        else:
            with pytest.raises(InputError):
                ask(formula)


def test_sets_are_refused():
    labels = np.zeros(len(TOWER), dtype=int)
    quotient = build_quotient([LabelledBatch(TOWER, {}, labels)], 1, Options(sets=True)).quotient
    with pytest.raises(InputError, match="forgets counts"):
        QuotientEvaluator(quotient)


@pytest.mark.parametrize("joint", [False, True])
def test_marked_goals_are_the_union_of_their_halves(joint):
    words = Vocabulary([Predicate("on", 2), Predicate("on_G", 2, "goal"), Predicate("clear_G", 1, "goal")])
    atoms = {"on": [[0, 1]], "on_G,T": [[0, 1]], "on_G,F": [[1, 2], [1, 3]], "clear_G,F": [[0]]}
    batch = Structures(words.marked(), 1, [0] * 4, atoms)
    built = built_from(batch, None, joint)
    texts = ["clear_G", "<on_G>top", "<on_G>top > 1", "<on_G^-1>clear_G", "<on_G+>top"]
    for text in texts + (["<on_G & on>top"] if joint else []):
        found = QuotientEvaluator(built.quotient).holds(parse(text))
        rows = built.rows(batch, built.quotient.depth)
        assert found[rows].tolist() == Evaluator(batch).holds(parse(text)).tolist()


def test_unknown_names_are_explained():
    quotient = built_from(TOWER, 1).quotient
    for text in ("cleer", "<onn>top"):
        with pytest.raises(InputError, match="did you mean"):
            QuotientEvaluator(quotient).holds(parse(text))
