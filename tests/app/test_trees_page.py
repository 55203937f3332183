"""The page Trees and embeddings: ways and leaf sets against direct computations, clicks, files, bad input."""

import io
import json
import shutil
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster

from app.drawings.decision_tree import Labels, draw_dendrogram, draw_tree, leaf_order
from app.drawings.palette import COLOURS
from app.pages.trees import embedding_points
from app.pages.trees.tree_choice import TreeView, sample_numbers
from app.session.run_index import DEMO
from app.session.run_session import RunSession
from distill.common import InputError
from distill.logic import Evaluator, parse
from distill.runs import Run, StoredTree, cut, stored_trees
from distill.symmetry import EquivalenceClasses, build_quotient_of, count_ambiguous_states
from distill.trees import Dendrogram
from tests.support.page_content import frame, said, shown
from tests.support.swap_run import swap_run

pytest.importorskip("streamlit")
DEMO_RUN = next(DEMO.iterdir())


@pytest.fixture(scope="module")
def demo() -> Run:
    return Run.load(DEMO_RUN)


@pytest.fixture(scope="module")
def trees(demo) -> tuple[StoredTree, ...]:
    return stored_trees(demo)


@pytest.fixture
def blocks(runs_folder) -> Run:
    return Run.load(min(runs_folder.glob("blocks-*")))


def open_tree(tree: StoredTree, sets: int = 4) -> TreeView:
    run = RunSession(DEMO_RUN, 0)
    return TreeView(run, tree, "ward", cut(tree.dendrograms["ward"], sets))


# Trees


def test_objects_end_where_the_tree_itself_leads_them(demo, trees) -> None:
    states = demo.states("train").structures(np.arange(0, 44000, 2000))
    evaluator = Evaluator(states)
    for tree in (*trees[::7], trees[-1]):
        size = len(states) if tree.about_states else states.n_objects
        columns = np.zeros((size, int(tree.tree.used.max()) + 1), dtype=bool)
        for column, formula in tree.formulas.items():
            columns[:, column] = evaluator.holds(formula)
        leaves = tree.leaves_of(states)
        assert np.array_equal(leaves, tree.tree.apply(columns))
        assert len(np.unique(leaves)) > 1
        visits = tree.visits(tree.nodes_of(states))
        assert visits[0] == size
        assert np.array_equal(visits[tree.tree.leaves], np.bincount(leaves, minlength=len(visits) // 2 + 1))


def test_the_answers_on_a_way_are_true_of_the_object(demo, trees) -> None:
    states = demo.states("test").structures([5, 9000])
    evaluator, tree = Evaluator(states), trees[25]
    nodes = tree.nodes_of(states)
    for one in range(0, states.n_objects, 5):
        steps = tree.steps(int(nodes[one]))
        assert steps
        assert all(evaluator.holds(step.formula)[one] == step.holds for step in steps)
        assert tree.path(int(nodes[one]))[: len(steps)] == [step.node for step in steps]
    leaf = int(tree.leaves_of(states)[0])
    assert evaluator.holds(tree.formula([leaf])).tolist() == (nodes == nodes[0]).tolist()


def linkage_matrix(clusters: Dendrogram) -> np.ndarray:
    """(l - 1, 4) the clusters in the form of scipy."""
    sizes = [len(leaves) for leaves in clusters.sets[len(clusters.merges) + 1 :]]
    return np.column_stack([clusters.merges, clusters.heights, sizes])


def test_a_cut_is_that_of_scipy(trees) -> None:
    compared = 0
    for tree in trees[::5]:
        for grown in tree.dendrograms.values():
            for sets in range(1, len(tree.tree.leaves) + 1):
                label = fcluster(linkage_matrix(grown), sets, "maxclust")
                if len(set(label)) == sets:  # equal heights may be cut otherwise
                    expected = {tuple(np.flatnonzero(label == one).tolist()) for one in set(label)}
                    assert set(cut(grown, sets)) == expected
                    compared += sets > 1
    assert compared


def test_features_are_found_in_the_leaf_sets_that_bore_them(demo, trees) -> None:
    pool = [one for one in demo.value_function.pool if one.provenance.leaves]
    assert pool
    for feature in pool:
        home = [
            tree
            for tree in trees
            if tree.layer == feature.provenance.layer
            and feature in tree.features_from(feature.provenance.leaves, demo.value_function.pool)
        ]
        assert feature.provenance.tree in {tree.number for tree in home}


def test_drawings_say_what_nodes_ask_and_name_every_leaf(trees) -> None:
    stored = trees[13]
    tree, view = stored.tree, open_tree(trees[13])
    asked = {column: f"<b>{column}" for column in stored.formulas}
    visits = np.arange(len(tree.splits)) + 1000
    labels = Labels(asked, visits, "objects", view.set_of_leaf)
    words = [getattr(shape, "text", "") for shape in draw_tree(tree, labels).shapes]
    for node in range(len(tree.splits)):
        assert f"{1000 + node:,}" in words
    for leaf in range(len(tree.leaves)):
        assert any(word.startswith(f"leaf {leaf} (") for word in words)
    path = stored.path(int(tree.leaves[-1]))
    short = draw_tree(tree, labels, path, only_path=True)
    shown_nodes = [
        shape.text for shape in short.shapes if getattr(shape, "text", "").replace(",", "").isdecimal()
    ]
    assert len(shown_nodes) == 2 * len(path) - 1  # each node of the path, and what branches off
    picture = draw_dendrogram(view.dendrogram, view.set_of_leaf, visits[tree.leaves])
    assert sorted(leaf_order(view.dendrogram)) == list(range(len(tree.leaves)))
    assert {shape.fill for shape in picture.shapes if hasattr(shape, "radius")} == set(COLOURS[:4])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda whole: whole["trees"][0]["dendrograms"]["ward"]["merges"].pop(),
        lambda whole: whole["trees"][0]["asked"].clear(),
        lambda whole: whole["trees"][0].pop("dendrograms"),
        lambda whole: whole["trees"][0]["children"].reverse(),
        lambda whole: whole["nodes"].clear(),
        lambda whole: whole.clear(),
    ],
)
def test_damaged_trees_are_refused_in_a_sentence(spoil, blocks, tmp_path) -> None:
    folder = Path(shutil.copytree(blocks.folder, tmp_path / "damaged"))
    whole = json.loads((folder / "trees.json").read_text())
    spoil(whole)
    (folder / "trees.json").write_text(json.dumps(whole))
    with pytest.raises(InputError, match=r"stored tree|make the run again"):
        stored_trees(Run.load(folder))


# What looks the same


def test_classes_are_the_rows_of_the_quotient(demo) -> None:
    data = demo.states("train").pick(np.arange(0, 44000, 400))
    quotient = build_quotient_of({"train": data}, 3).quotient
    found = EquivalenceClasses.of(data.structures(), 3)
    assert found.classes() == [len(layer) for layer in quotient.layers]
    assert count_ambiguous_states(found, data.v_star)[0] > count_ambiguous_states(found, data.v_star)[-1] == 0
    same = found.equivalent_objects(7)
    assert all(set(late) <= set(early) and 7 in late for early, late in pairwise(same))


# Embeddings


def test_points_stand_for_all_objects_and_the_chosen_one(trees, demo) -> None:
    run, view = RunSession(DEMO_RUN, 0), open_tree(trees[25])
    cloud = embedding_points.cloud_of(run, "train", view.tree.layer)
    assert cloud is not None
    v_star = run.states("train").v_star
    colour, names = embedding_points.colours_of(cloud, "leaf set", view, v_star, None)
    assert set(colour) <= set(names)
    picked = (int(cloud.state_of[100]), int(cloud.place_of[100]))
    table = embedding_points.points_table(cloud, colour, run, "train", picked)
    assert table["objects"].sum() == cloud.states.n_objects
    assert len(table) < cloud.states.n_objects
    [row] = table[table["chosen"]].to_dict("records")
    assert (row["state"], row["place"], row["v_star"]) == (*picked, v_star[picked[0]])
    held, _ = embedding_points.colours_of(cloud, "formula", view, v_star, parse("<carry>gripper"))
    expected = Evaluator(cloud.states).holds(parse("<carry>gripper"))
    assert (np.array(held) == embedding_points.YES).tolist() == expected.tolist()
    numbers, names = embedding_points.colours_of(cloud, "formula", view, v_star, parse("#ball"))
    assert not names
    assert (
        numbers[100]
        == (Evaluator(cloud.states[[int(cloud.states.state_of_object[100])]]).holds(parse("ball"))).sum()
    )


def test_few_of_many_places_are_drawn(trees, monkeypatch) -> None:
    monkeypatch.setattr(embedding_points, "MOST", 50)
    run = RunSession(DEMO_RUN, 0)
    cloud = embedding_points.cloud_of(run, "test", 3)
    assert cloud is not None
    table = embedding_points.points_table(cloud, np.zeros(cloud.states.n_objects), run, "test")
    assert 40 < len(table) <= 50


# The page alone


def test_what_is_not_there_is_told_and_something_else_is_shown(runs_folder, blocks, monkeypatch) -> None:
    at = shown(
        "trees",
        runs_folder,
        monkeypatch,
        run=blocks.name,
        tree_layer="17",
        tree="99",
        state="100000",
        sets="x",
    )
    assert not at.exception
    assert "“17” does not exist" in said(at, "markdown")
    assert "There is no state “100000”" in said(at, "markdown")
    assert len(frame(at, "leaf", "path"))
    at = shown(
        "trees",
        runs_folder,
        monkeypatch,
        run=blocks.name,
        state="1",
        object="nobody",
        coloured="formula",
        formula="<on",
    )
    assert not at.exception
    assert "“nobody” does not exist" in said(at, "markdown")
    assert "ends in leaf" in said(at, "markdown")
    assert len(at.warning) == 1  # the formula cannot be read


def test_a_run_without_trees_says_so(tmp_path_factory, monkeypatch) -> None:
    run = swap_run(tmp_path_factory.mktemp("swap"), pool="enumerate")
    at = shown("trees", run.folder.parent, monkeypatch, run=run.name, state="2", object="c1")
    assert not at.exception
    assert "This run has no trees" in said(at, "markdown")
    assert len(frame(at, "depth", "classes of states"))


def test_damage_takes_only_its_own_part(runs_folder, blocks, tmp_path, monkeypatch) -> None:
    folder = Path(shutil.copytree(blocks.folder, tmp_path / blocks.name))
    (folder / "embeddings.npz").write_bytes(b"no archive")
    at = shown("trees", tmp_path, monkeypatch, run=blocks.name)
    assert not at.exception
    assert len(frame(at, "leaf", "path"))
    assert "create it again" in " ".join(one.value for one in (*at.error, *at.warning))
    assert len(frame(at, "depth", "classes of states"))
    other = Path(shutil.copytree(blocks.folder, tmp_path / "other"))
    (other / "trees.json").write_text("{")
    at = shown("trees", tmp_path, monkeypatch, run="other")
    assert not at.exception
    assert "not valid JSON" in said(at, "markdown")
    assert len(frame(at, "depth", "classes of states"))


# In a browser


def test_a_link_shows_a_tree_and_the_way_of_an_object(browser, blocks) -> None:
    link = f"trees?run={blocks.name}&tree_layer=1&tree=0&split=test&state=3&object=b1"
    browser.open(link, "b1 in state 3 of test")
    tree = stored_trees(blocks)[0]
    structure = blocks.states("test").structures([3])
    place = (
        blocks.states("test").instances[int(blocks.states("test").state_instance[3])]["objects"].index("b1")
    )
    leaf = int(tree.leaves_of(structure)[place])
    assert f"ends in leaf {leaf}," in browser.text()
    name, svg = browser.download(lambda: browser.page.get_by_role("button", name="Tree as SVG").click())
    assert name == "layer1-tree0.svg"
    assert svg.startswith("<svg")
    assert svg.count("leaf set") >= len(tree.tree.leaves)
    browser.page.get_by_text("Only the path of this object").click()
    browser.page.wait_for_url("**way=only**")
    browser.settled()
    _, short = browser.download(lambda: browser.page.get_by_role("button", name="Tree as SVG").click())
    assert short.count("<rect") <= svg.count("<rect")
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="Leaves as CSV").click())
    table = pd.read_csv(io.StringIO(text))
    assert name == "layer1-tree0-leaves.csv"
    assert table["leaf"].tolist() == list(range(len(tree.tree.leaves)))
    data = blocks.states("test")
    assert table["objects"].sum() == data.structures(sample_numbers(data)).n_objects
    browser.page.get_by_role("link", name="Open this state").first.click()
    browser.settled("State 3:")


def test_a_click_on_a_point_chooses_its_object(browser, blocks) -> None:
    browser.open(
        f"trees?run={blocks.name}&tree_layer=2&coloured=formula&formula=clear&split=train",
        "Equivalence classes",
    )
    points = browser.page.locator(".mark-symbol.role-mark path")
    points.last.wait_for()
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="Points as CSV").click())
    table = pd.read_csv(io.StringIO(text))
    assert name == "layer2-tree0-points.csv"
    assert len(table) == points.count()
    assert set(table["formula"]) == {"holds", "does not hold"}
    clicked = points.last.get_attribute("aria-label")  # the last one lies above all others
    points.last.click()
    browser.page.wait_for_url("**object=**")
    browser.settled("ends in leaf")
    chosen = {key: one for key, [one] in parse_qs(urlparse(browser.page.url).query).items()}
    assert f"object: {chosen['object']}; state: {chosen['state']};" in clicked
    assert f"{chosen['object']} in state {chosen['state']} of train" in browser.text()
    [row] = table[(table["state"] == int(chosen["state"])) & (table["object"] == chosen["object"])].to_dict(
        "records"
    )
    assert f"formula: {row['formula']};" in clicked
    inside = blocks.states("train").atom_names(row["state"])
    assert (f"(clear {row['object']})" in inside) == (row["formula"] == "holds")
