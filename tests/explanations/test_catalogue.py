"""All formulas of a run, against looking at each formula by itself."""

import re

import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.explanations import (
    OBJECTS,
    Catalogue,
    Provenance,
    StateFeature,
    ValueFunction,
    as_number,
    counted_concept,
)
from distill.logic import Atom, Count, Modal, Number, Role, Scaled, Sum, Truth, parse, write
from tests.support.naive import numbers, truths

QUICK = settings(max_examples=60, deadline=None)


def distilled(features: dict[str, float], origin: Provenance | None = None) -> ValueFunction:
    """A value function of typed features and their weights; those with weight 0 are in the pool only."""
    numbers = {parse(text): weight for text, weight in features.items()}
    value = Sum(*(Scaled(weight, number) for number, weight in numbers.items()))
    pool = [StateFeature(number, "numerical", origin or Provenance(1)) for number in numbers]
    return ValueFunction(value, tuple(pool))


@given(features=st.lists(numbers, min_size=1, max_size=5), taken=st.integers(0, 5))
@QUICK
def test_entries_are_what_each_feature_by_itself_says(features, taken) -> None:
    pool = list(dict.fromkeys(features))
    value = Sum(*(Scaled(2, number) for number in pool[:taken])) if taken else parse("#clear")
    found = Catalogue(
        ValueFunction(value, tuple(StateFeature(one, "numerical", Provenance(1)) for one in pool))
    )
    inside = {part for one in pool for part in one.walk() if isinstance(part, Truth) and not part.of_state}
    assert {entry.formula for entry in found} == {*pool, *inside}
    for number, entry in enumerate(found):
        assert entry.number == number
        assert entry.used == (entry.formula in set(value.walk()))
        assert entry.features == sum(entry.formula in set(one.walk()) for one in pool)
        names = {part.fields[0] for part in entry.formula.walk() if isinstance(part, Atom | Role)}
        assert entry.predicates == names
        assert found.entry(entry.formula) is entry
    order = [(not entry.weight, not entry.used, entry.formula.order) for entry in found]
    assert order == sorted(order)


@given(
    features=st.lists(truths.map(Count), min_size=1, max_size=5),
    text=st.sampled_from(["clear", "ON", "<on> top", "& ~", "#", "zap", ""]),
    names=st.sets(st.sampled_from(["clear", "on", "on_G"])),
    smallest=st.integers(0, 5),
    largest=st.integers(3, 20),
)
@QUICK
def test_what_is_found_is_what_a_slow_search_finds(features, text, names, smallest, largest) -> None:
    pool = tuple(StateFeature(one, "numerical", Provenance(1)) for one in dict.fromkeys(features))
    catalogue = Catalogue(ValueFunction(features[0], pool))
    words = [re.sub(r"\s", "", word).lower() for word in text.split()]
    wanted = [
        entry
        for entry in catalogue
        if all(word in write(entry.formula).replace(" ", "").lower() for word in words)
        and all(name in entry.predicates for name in names)
        and smallest <= entry.formula.size <= largest
    ]
    assert catalogue.find(text, predicates=names, smallest=smallest, largest=largest) == wanted


def test_conditions_on_use_kind_and_layer() -> None:
    found = Catalogue(distilled({"#<on>clear": 2, "#holding": 0}, Provenance(3)))
    assert [str(e.formula) for e in found.find(used=True)] == ["#<on>clear", "clear", "<on>clear"]
    assert [str(e.formula) for e in found.find(used=False)] == ["holding", "#holding"]
    assert [str(e.formula) for e in found.find(kinds=[OBJECTS], layers=[3])] == ["<on>clear", "holding"]
    assert found.find(layers=[1]) == []
    assert found.kinds == ["numerical", OBJECTS]
    assert found.layers == [3]
    assert found.predicates == ["clear", "holding", "on"]


def test_weights_and_origins() -> None:
    found = Catalogue(distilled({"#<on>clear": 2, "#holding": 0}, Provenance(3, 1, (4,))))
    entry = found.entry(parse("#<on>clear"))
    assert (entry.weight, entry.provenance.leaves) == (2, (4,))
    assert found.entry(parse("<on>clear")).layer == 3
    assert found.entry(parse("clear")).provenance is None
    assert found.entry(parse("<on>holding")) is None


def test_a_combined_feature_was_not_born_with_what_it_asks_for() -> None:
    pool = (StateFeature(parse("[#clear > 0] & [#holding > 0]"), "combined", Provenance(-1)),)
    pool += (StateFeature(parse("[#clear > 1]"), "combined", Provenance(-1)),)
    assert Catalogue(ValueFunction(pool[0].number, pool)).entry(parse("clear")).provenance is None


def huge(depth: int = 200) -> Truth:
    """A formula of 2^depth symbols that shares its parts."""
    formula: Truth = parse("clear")
    for _ in range(depth):
        formula = Modal(Role("on"), formula) & Modal(Role("on", 1, 0), formula)
    return formula


def test_huge_formulas_are_listed_and_searched_part_by_part() -> None:
    whole = Count(huge())
    pool = (
        StateFeature(whole, "numerical", Provenance(1)),
        StateFeature(parse("#holding"), "numerical", Provenance(1)),
    )
    found = Catalogue(ValueFunction(whole, pool))
    assert whole.size > 10**60
    assert whole in {entry.formula for entry in found.find("<on^-1>clear")}
    assert whole not in {entry.formula for entry in found.find("holding")}
    assert whole not in {entry.formula for entry in found.find(largest=10**9)}
    assert found[0].formula is whole


def test_an_address_leads_back_to_its_formula() -> None:
    whole = Count(huge())
    found = Catalogue(ValueFunction(whole, (StateFeature(whole, "numerical", Provenance(1)),)))
    for entry in found:
        assert found.read(found.address(entry.formula)) is entry.formula
    assert found.address(whole) == "no:0"
    assert found.address(parse("#<on>holding")) == "#<on>holding"
    assert found.address(Count(~huge())) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no:99", "There is no formula 99 among 3"),
        ("<on", "Column"),
        ("__import__('os').system('true')", "Column"),
        ("@nothing", "nothing"),
        ("(" * 5000, "Column"),
    ],
)
def test_what_cannot_be_read_is_told(text, message) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Catalogue(distilled({"#<on>clear": 1})).read(text)


@pytest.mark.parametrize("text", ["<on>clear", "exists y (on(x,y) & clear(y))", "𝐀_on clear > 0"])
def test_all_readable_forms_are_read(text) -> None:
    assert Catalogue(distilled({"#holding": 1})).read(text) is parse("<on>clear")


@given(st.one_of(truths, numbers))
@QUICK
def test_every_formula_is_some_number_of_states(formula) -> None:
    number = as_number(formula)
    assert isinstance(number, Number)
    assert number is formula or number.fields == (formula,)
    inner = counted_concept(formula)
    assert inner is None or (inner in set(formula.walk()) and not inner.of_state)


def test_a_relation_is_no_formula() -> None:
    with pytest.raises(InputError, match="on is a relation"):
        as_number(Role("on"))
