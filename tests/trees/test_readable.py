"""A network that counts blocks is read as short formulas that mean on states what the reader says."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from distill.errors import InputError
from distill.logic import Atom, Distance, Evaluator, Number, QuotientEvaluator, parse
from distill.logic.renaming import renamed
from distill.planning import expand, join, problem_class
from distill.settings import Distillation
from distill.structures import Options, Predicate, Quotient, Structures, Vocabulary
from distill.symmetry import Labelled, build_quotient
from distill.trees import Origin, Reader, StateFeature

SMALL = Distillation(inner_width=3, final_width=3, inner_depth=3, final_depth=3, chain_steps=2)
LAYERS = 3
JOINT = Options(joint=True)


@pytest.fixture(scope="module")
def states() -> tuple[Structures, NDArray[np.int64], NDArray[np.int64]]:
    """States of towers of up to five blocks, V*, and which of them are for validation."""
    expanded = [expand(instance, 10_000) for instance in problem_class("blocks-clear").make("train")[:4]]
    data = join([found for found in expanded if found is not None])
    split = (np.random.default_rng(0).random(len(data)) < 0.2).astype(np.int64)
    return data.structures(), data.v_star.astype(np.int64), split


@pytest.fixture(scope="module")
def quotient(states) -> Quotient:
    return build_quotient([Labelled(*states)], None, JOINT).quotient


def embeddings_of(quotient: Quotient, names: dict[str, str] | None = None) -> list[NDArray[np.float64]]:
    """A made-up network: layer d knows what is up to d blocks above, and whether a wanted block is below.

    No two leaves of trees are equally far from a third, so that rounding decides nothing.
    """
    evaluator = Evaluator(quotient.states)

    def holds(text: str) -> NDArray[np.bool_]:
        return evaluator.holds(renamed(parse(text), names or {}))

    above, below = np.zeros((2, quotient.states.n_objects))
    found = []
    for depth in range(LAYERS + 1):
        if depth:
            above = above + holds("<on^-1>" * depth + "top")
            below = below + 0.53**depth * holds("<on>" * depth + "clear_G")
        free = 0.71 * holds("clear | holding") if depth else 0 * above
        row = quotient.layers[min(depth, quotient.depth)].representative
        found.append(np.column_stack([np.exp(0.31 * above), 3 * below, free])[row])
    return found


def read(quotient: Quotient, settings: Distillation = SMALL, names: dict[str, str] | None = None) -> Reader:
    """A reader that has read all of the network."""
    reader = Reader(quotient, settings)
    found = embeddings_of(quotient, names)
    reader.read(found)
    last = quotient.layers[min(LAYERS, quotient.depth)]
    reader.read_states(last.histogram @ found[-1])
    return reader


@pytest.fixture(scope="module")
def reader(quotient) -> Reader:
    return read(quotient)


def check_values(reader: Reader, quotient: Quotient, found: tuple[list[StateFeature], NDArray]) -> None:
    features, values = found
    evaluator = Evaluator(quotient.states[quotient.chosen])
    assert values.shape == (len(quotient.v_star), len(features))
    for feature, column in zip(features, values.T, strict=True):
        assert np.array_equal(evaluator.number(reader.named(feature).number), column)
    seen = values[reader.states].T
    assert len({column.tobytes() for column in seen}) == len(seen)
    assert all(len(np.unique(column)) > 1 for column in seen)


def described(reader: Reader) -> list[tuple[Number, str, Origin]]:
    features = [reader.named(feature) for feature in reader.features()[0]]
    return [(feature.number, feature.kind, feature.origin) for feature in features]


# Meaning


def test_features_have_on_states_the_values_that_the_reader_gives(reader, quotient):
    found = reader.features()
    check_values(reader, quotient, found)
    assert {"numerical", "boolean", "combined", "distance"} == {feature.kind for feature in found[0]}
    assert np.array_equal(reader.states, quotient.split == 0)
    assert not reader.states.all()


def test_formulas_about_objects_hold_where_the_reader_says(reader, quotient):
    evaluator, rows = Evaluator(quotient.states), quotient.rows[-1]
    for formula, holds in zip(reader.objects.formulas, reader.objects.holds.T, strict=True):
        assert np.array_equal(evaluator.holds(reader.renamed(formula)), holds[rows])
    seen = reader.objects.holds[reader.train].T
    assert len({column.tobytes() for column in seen}) == len(seen)


def test_what_the_network_counts_is_found(reader, quotient):
    """The block above the wanted one, and those further above, are what layers tell apart."""
    seen = reader.train[quotient.rows[-1]]
    evaluator = Evaluator(quotient.states)
    found = {evaluator.holds(reader.renamed(formula))[seen].tobytes() for formula in reader.objects.formulas}
    for text in ("<on>clear_G", "<on><on>clear_G", "<on^-1>top", "<on^-1><on^-1>top", "clear | holding"):
        holds = evaluator.holds(parse(text))[seen]
        assert {holds.tobytes(), (~holds).tobytes()} & found, text


def test_what_a_tree_said_holds_of_the_same_training_rows(reader):
    evaluator = QuotientEvaluator(reader.quotient)
    found = (reader.objects, reader.train), (reader.combined, reader.states)
    for part, seen in found:
        told = 0
        for holds, origin in zip(part.holds.T, part.origins, strict=True):
            if origin.formula is not None:
                told += 1
                assert np.array_equal(evaluator.holds(origin.formula)[seen], holds[seen])
        assert told > 0


def test_what_a_tree_said_of_features_is_named_as_well(reader, quotient):
    seen = np.isin(np.arange(len(quotient.states)), quotient.chosen[reader.states])
    evaluator, checked = Evaluator(quotient.states), 0
    for feature in map(reader.named, reader.features()[0]):
        if feature.kind == "numerical" and feature.origin.formula is not None:
            original, counted = feature.origin.formula, feature.number.fields[0]
            same = evaluator.holds(original) == evaluator.holds(counted)
            assert same[seen[quotient.states.state_of_object]].all()
            checked += 1
    assert checked > 0


def test_features_know_where_they_were_born(reader):
    for origin, cost in zip(reader.objects.origins, reader.objects.cost, strict=True):
        assert 0 <= origin.layer <= LAYERS
        assert (origin.layer == 0) == (origin.tree < 0)
        assert origin.layer > 0 or cost == 1
        if origin.leaves:
            assert max(origin.leaves) < len(reader.trees[origin.layer - 1][origin.tree].leaves)
    assert {origin.layer for origin in reader.combined.origins} == {-1}
    assert [len(layer) for layer in reader.trees] == [3] * (LAYERS + 1)


# Limits


@pytest.mark.parametrize(("feature_size", "chain_size"), [(8, 20), (5, 5), (3, 6), (1, 2)])
def test_formulas_are_as_short_as_they_have_to_be(quotient, feature_size, chain_size):
    reader = read(quotient, replace(SMALL, feature_size=feature_size, chain_size=chain_size))
    objects = reader.objects
    for formula, cost, origin in zip(objects.formulas, objects.cost, objects.origins, strict=True):
        single = not origin.leaves or formula.kind not in ("and", "or")
        assert cost <= (chain_size if single else feature_size)
        # What is achieved or missing has four symbols and costs one, of properties and relations alike.
        assert formula.size <= 4 * cost
        named = reader.renamed(formula)
        goals = any(isinstance(part, Atom) and part.fields[0].endswith("_G") for part in named.walk())
        assert goals or named.size <= cost
    assert max(reader.objects.cost) > 1
    for formula, cost in zip(reader.combined.formulas, reader.combined.cost, strict=True):
        assert cost <= feature_size + 4
        assert formula.size <= 4 * cost


def test_trees_are_as_deep_as_they_may_be(quotient):
    reader = read(quotient, replace(SMALL, inner_depth=3, final_depth=4, inner_width=4))
    *inner, final = [[max(map(len, tree.paths)) for tree in layer] for layer in reader.trees]
    assert all(deep <= most for layer in inner for deep, most in zip(layer, (1, 3, 1, 3), strict=True))
    assert max(deep for layer in inner for deep in layer) == 3
    assert max(final) <= 4


def test_distances_are_given_where_trees_bear_enough_steps_in_a_row(quotient):
    def kinds(steps: int) -> tuple[set[str], list[int]]:
        reader = read(quotient, replace(SMALL, chain_steps=steps))
        found = {feature.kind for feature in reader.features()[0]}
        return found, [len(chain.layers) for chain in reader.chains]

    some, lengths = kinds(2)
    assert "distance" in some
    assert min(lengths) >= 2
    for steps in (0, 50):
        none, lengths = kinds(steps)
        assert "distance" not in none
        assert not lengths


def test_a_distance_knows_the_chain_that_admits_it(reader):
    found = [reader.named(one) for one in reader.features()[0] if one.kind == "distance"]
    for feature in found:
        chain = feature.origin.chain
        assert isinstance(feature.number, Distance)
        assert feature.number.fields[1] is chain.relation
        assert chain.relation in (parse("<on>top").fields[0], parse("<on^-1>top").fields[0])
        assert len(chain.layers) == chain.steps[1] - chain.steps[0] + 1 >= SMALL.chain_steps
        assert feature.origin.layer == max(chain.layers)


# Without a network, and one step further


def test_short_formulas_and_distances_are_given_without_a_network(quotient):
    reader = Reader(quotient, replace(SMALL, feature_size=3))
    before = len(reader.objects.formulas)
    reader.enumerate()
    found = reader.features()
    check_values(reader, quotient, found)
    assert len(reader.objects.formulas) > before
    assert max(reader.objects.cost) == 3
    assert {"numerical", "boolean", "distance"} == {feature.kind for feature in found[0]}
    born = {feature.origin.pool for feature in found[0] if feature.kind == "distance"}
    assert born == {"enumerate"}


# What decides


def test_the_same_seed_gives_the_same_features(reader, quotient):
    assert described(read(quotient)) == described(reader)
    others = [described(read(quotient, replace(SMALL, seed=seed))) for seed in (1, 2, 3)]
    assert any(other != described(reader) for other in others)


def test_names_and_declarations_decide_nothing(states, quotient, reader):
    batch, *labels = states
    names = {"clear": "a", "holding": "z", "on": "clear", "ontable": "on", "handempty": "m"}
    new = {p.name: names[p.base] + p.name[len(p.base) :] for p in batch.vocabulary}
    words = Vocabulary(Predicate(new[p.name], p.arity, p.role) for p in reversed(batch.vocabulary.predicates))
    atoms = {new[name]: rows for name, rows in batch.relations.items()}
    other = Structures(words, len(batch), batch.state_of_object, atoms)
    changed = build_quotient([Labelled(other, *labels)], None, JOINT).quotient
    plain = [Reader(one, replace(SMALL, feature_size=4)) for one in (quotient, changed)]
    for one in plain:
        one.enumerate()
    for one, again in ((reader, read(changed, names=new)), plain):
        numbers = {renamed(number, new) for number, _, _ in described(one)}
        assert {number for number, _, _ in described(again)} == numbers


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_states_and_objects_in_another_order_decide_nothing(states, seed):
    batch, v_star, split = states
    random = np.random.default_rng(seed)
    found = []
    for order in (np.arange(len(batch)), random.permutation(len(batch))):
        # Training states come first, as in every run.
        order = order[np.argsort(split[order], kind="stable")]
        moved = batch[order]
        bounds = zip(moved.object_offsets, moved.object_offsets[1:], strict=False)
        places = np.concatenate([begin + random.permutation(int(end - begin)) for begin, end in bounds])
        labelled = Labelled(moved.relabel(places), v_star[order], split[order])
        found.append(described(read(build_quotient([labelled], None, JOINT).quotient)))
    one, other = ({(number, kind) for number, kind, _ in features} for features in found)
    assert one == other


def test_weights_say_how_much_states_count(quotient):
    found, objects = embeddings_of(quotient), np.diff(quotient.states.object_offsets)[quotient.chosen]
    plain, weighted = Reader(quotient, SMALL), Reader(quotient, SMALL)
    near = np.where(plain.states & (quotient.v_star < 2), 1.0, 0.0)
    plain.read(found)
    weighted.read(found, weight=near)
    assert plain.trees[0][0].weights[0] == pytest.approx(float(plain.weight @ objects))
    assert weighted.trees[0][0].weights[0] == pytest.approx(float(near @ objects))


def test_labels_balance_each_other(reader, quotient):
    train = quotient.split == 0
    for label in np.unique(quotient.v_star[train]):
        assert reader.weight[train & (quotient.v_star == label)].sum() == pytest.approx(1)
    assert not reader.weight[~train].any()


def test_dead_ends_have_no_say_but_get_values(quotient):
    lost = quotient.v_star > 4
    ends = replace(quotient, v_star=np.where(lost, -1, quotient.v_star))
    reader = read(ends)
    assert not reader.states[lost].any()
    check_values(reader, ends, reader.features())


# Bad input


BAD = {
    "not stable": lambda states, quotient: build_quotient([Labelled(*states)], 1, JOINT).quotient,
    "not joint": lambda states, quotient: build_quotient([Labelled(*states)]).quotient,
    "sets": lambda states, quotient: replace(quotient, options=Options(sets=True, joint=True)),
}


@pytest.mark.parametrize("case", BAD)
def test_quotients_that_forget_something_are_refused(states, quotient, case):
    with pytest.raises(InputError, match="stable quotient with joint messages and multisets"):
        Reader(BAD[case](states, quotient), SMALL)


def test_no_solvable_training_state_is_refused(quotient):
    dead = replace(quotient, v_star=np.full_like(quotient.v_star, -1))
    elsewhere = replace(quotient, split=np.ones_like(quotient.split))
    mixed = replace(quotient, v_star=np.where(quotient.split == 0, -1, quotient.v_star))
    for case in (dead, elsewhere, mixed):
        with pytest.raises(InputError, match="way to the goal"):
            Reader(case, SMALL)
