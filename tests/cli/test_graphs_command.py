"""`distill graphs`, as a user runs it."""

import numpy as np
import pytest

from distill.graphs import Classification, synthetic_graphs
from distill.graphs.graph_set import GraphSet, graph_structures
from distill.logic import Evaluator, read_formula
from tests.support.commands import answer, distill
from tests.support.tu_files import SMALL, write_set, written

FEW = ("--folds", 2, "--layers", 2)


@pytest.fixture
def folder(tmp_path):
    """Graphs of class 5 have a node with label 3 that has two neighbours with label 3; others are -1."""
    random = np.random.default_rng(0)
    sizes = random.integers(3, 8, 120)
    graph = np.repeat(np.arange(120), sizes)
    pairs = np.argwhere(graph[:, None] == graph)
    edges = pairs[(pairs[:, 0] < pairs[:, 1]) & (random.random(len(pairs)) < 0.5)]
    label = random.choice([0, 3], len(graph))
    named = [(f"label{value}", np.flatnonzero(label == value)) for value in (0, 3)]
    graphs = graph_structures(120, graph, edges, named)
    holds = Evaluator(graphs).holds(read_formula("[#(label3 & <edge>label3 > 1) > 0]")).astype(int)
    return write_set(GraphSet("OURS", graphs, holds, ("-1", "5")), tmp_path / "OURS")


def test_a_folder_is_classified(folder):
    told = answer("graphs", folder, *FEW, "--no-network", "--seeds", 2, "--final-depth", 3)
    assert told["name"] == "OURS"
    assert told["graphs"] == 120
    assert told["classes"] == ["-1", "5"]
    assert [one["seed"] for one in told["seeds"]] == [0, 1]
    for one in told["seeds"]:
        assert len(one["folds"]) == 2
        assert sum(fold["graphs"] for fold in one["folds"]) == 120
        assert one["mean"]["formulas"] > one["mean"]["constant"]
        assert one["mean"]["network"] is None
        assert set(one["formulas"]) == {"-1", "5"}
        assert all(read_formula(text).of_state for text in one["formulas"].values() if "V = " not in text)


def test_a_network_is_trained_and_its_agreement_is_reported(folder):
    shown = distill("graphs", folder, *FEW, "--epochs", 1, "--size", 4)
    assert shown.returncode == 0, shown.stderr
    assert "OURS: accuracy on held-out graphs" in shown.stdout
    assert "agreement of both" in shown.stdout
    assert "class 5:\n" in shown.stdout
    assert "120 graphs" in shown.stdout
    assert "–" not in shown.stdout.split("class")[2]


def test_a_synthetic_set_is_shown_with_its_definition():
    shown = distill("graphs", "@emlc0", "--graphs", 100, *FEW, "--no-network").stdout
    assert "Class 1 is defined by [#u > 6]" in shown
    told = answer("graphs", "@emlc1", "--graphs", 40, *FEW, "--no-network", "--seed", 3)
    assert told["truth"] == str(synthetic_graphs("emlc1", 1, 0).truth)
    assert told["seeds"][0]["seed"] == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["@emlc7"], "There is no synthetic set @emlc7"),
        (["@"], "There is no synthetic set @"),
        (["nowhere"], "nowhere is no folder"),
        (["@emlc0", "--folds", 1], "--folds must be a whole number from 2 to 1000, not '1'."),
        (["@emlc0", "--graphs", 5], "--graphs must be a whole number from 20 to 100000, not '5'."),
        (["@emlc0", "--layers", 0], "--layers must be a whole number from 1 to 100, not '0'."),
        (["@emlc0", "--seed", 4294967295, "--seeds", 2], "--seed and --seeds reach beyond 4294967295"),
        (["@emlc0", "--graphs", 20, "--folds", 11], "emlc0 has 20 graphs, and 11 folds need 22"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, sentence):
    done = distill("graphs", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_files_get_one_sentence_with_file_and_line(tmp_path):
    written(tmp_path, {**SMALL, "graph_labels": "1\nx\n"})
    done = distill("graphs", tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"Error: {tmp_path}/SMALL_graph_labels.txt, line 2: 'x' is not a whole number; correct it.\n"
    )


def test_the_defaults_are_those_of_the_settings():
    shown = " ".join(distill("graphs", "--help").stdout.split())
    for name, value in Classification().to_mapping().items():
        assert f"--{name.replace('_', '-')}" in shown
        assert f"[{value}]" in shown
