"""Terms that are equal by their values on states."""

import numpy as np
from hypothesis import given, settings, strategies as st

from distill.explanations import denotations, features_of, shared_terms
from distill.logic import Evaluator, Scaled, Sum, parse
from tests.support.naive import numbers
from tests.support.strategies import batches


@given(st.lists(batches(), min_size=1, max_size=2), st.lists(numbers, min_size=1, max_size=5, unique=True))
@settings(max_examples=60, deadline=None)
def test_keys_are_equal_exactly_where_values_are(parts, found) -> None:
    evaluators = [Evaluator(part) for part in parts]
    keys = denotations(found, evaluators)
    values = {one: np.concatenate([part.number(one) for part in evaluators]) for one in found}
    for one in found:
        for other in found:
            assert (keys[one] == keys[other]) == np.array_equal(values[one], values[other])


@given(batches(), st.lists(st.lists(numbers, min_size=1, max_size=3), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_shared_terms_add_up_to_each_function(batch, functions) -> None:
    evaluator = Evaluator(batch)
    values = [Sum(*(Scaled(place + 2, one) for place, one in enumerate(own))) for own in functions]
    terms = shared_terms(values, [denotations(features_of(value), [evaluator]) for value in values])
    columns = [evaluator.number(term.formula).astype(float) for term in terms]
    assert len({column.tobytes() for column in columns}) == len(columns)
    constants = [evaluator.number(value) for value in values]
    for place, value in enumerate(values):
        total = sum((term.weights[place] or 0) * column for term, column in zip(terms, columns, strict=True))
        # What is left is the function's constant.
        assert len(np.unique(np.round(constants[place] - total, 6))) <= 1, value


def test_without_keys_only_the_same_formula_is_shared() -> None:
    one, other = parse("#clear + 2*#holding"), parse("3*#clear + #(holding & holding)")
    terms = shared_terms([one, other], [{}, {}])
    assert [(str(term.formula), term.weights, term.n_functions) for term in terms] == [
        ("#clear", (1, 3), 2),
        ("#holding", (2, 1), 2),
    ]
