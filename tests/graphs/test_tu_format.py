"""Graphs in the TU format: what is read, and what is refused."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.graphs import GraphSet, read_graphs
from distill.graphs.graph_set import graph_structures
from tests.support.tu_files import SMALL, write_set, written


def test_a_small_set_is_read(tmp_path):
    data = read_graphs(written(tmp_path))
    assert data.name == "SMALL"
    assert data.classes == ("-1", "1")
    assert data.label.tolist() == [0, 1]
    assert data.graphs.state_of_object.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert data.graphs.decode(1) == [
        *(("edge", pair) for pair in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 3), (3, 2)]),
        ("label0", (0,)),
        ("label0", (3,)),
        ("label7", (1,)),
        ("label7", (2,)),
    ]


def test_nodes_need_no_labels_and_edges_one_direction(tmp_path):
    files = {name: text for name, text in SMALL.items() if name != "node_labels"}
    both = read_graphs(written(tmp_path / "both", files))
    assert [predicate.name for predicate in both.graphs.vocabulary] == ["edge"]
    files["A"] = "1,2\n2,3\n1,3\n4,5\n 5 , 6\n4,6\n6,7\n6,7\n\n"
    assert read_graphs(written(tmp_path / "one", files)).graphs == both.graphs


def test_nodes_may_come_in_any_order(tmp_path):
    order = np.array([3, 0, 6, 1, 4, 2, 5])  # the line of each node
    place = np.empty(7, dtype=int)
    place[order] = np.arange(7)
    lines = {name: SMALL[name].split() for name in ("graph_indicator", "node_labels")}
    edges = [[int(node) - 1 for node in line.split(", ")] for line in SMALL["A"].strip().split("\n")]
    files = {
        **SMALL,
        **{name: "\n".join(texts[node] for node in order) for name, texts in lines.items()},
        "A": "\n".join(f"{place[first] + 1}, {place[second] + 1}" for first, second in edges),
    }
    shuffled, plain = read_graphs(written(tmp_path / "1", files)), read_graphs(written(tmp_path / "2"))
    for graph in range(2):
        own, other = (
            sorted(len(one.graphs[[graph]].relations[name]) for name in ("edge", "label0", "label7"))
            for one in (shuffled, plain)
        )
        assert own == other
        degrees = [
            sorted(np.bincount(one.graphs[[graph]].relations["edge"][:, 0]).tolist())
            for one in (shuffled, plain)
        ]
        assert degrees[0] == degrees[1]


@st.composite
def graph_sets(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = random.integers(1, 6, draw(st.integers(1, 6)))
    graph = np.repeat(np.arange(len(sizes)), sizes)
    pairs = np.argwhere(graph[:, None] == graph)
    edges = pairs[(pairs[:, 0] < pairs[:, 1]) & (random.random(len(pairs)) < 0.6)]
    label = random.choice([-2, 0, 5], len(graph))
    named = [(f"label{value}", np.flatnonzero(label == value)) for value in np.unique(label)]
    classes, number = np.unique(random.integers(-1, 3, len(sizes)), return_inverse=True)
    graphs = graph_structures(len(sizes), graph, edges, named)
    return GraphSet("SET", graphs, number, tuple(map(str, classes)))


@given(graph_sets(), st.integers(0, 100))
def test_written_sets_are_read_back(data, seed):
    with tempfile.TemporaryDirectory() as folder:
        found = read_graphs(write_set(data, Path(folder), seed))
    assert found.graphs == data.graphs
    assert found.label.tolist() == data.label.tolist()
    assert found.classes == data.classes


def changed(name: str, line: int, text: str) -> dict[str, str]:
    lines = SMALL[name].split("\n")
    lines[line - 1] = text
    return {**SMALL, name: "\n".join(lines)}


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (changed("A", 3, "2, 8"), "SMALL_A.txt, line 3: there is no 8 among the 7 lines"),
        (changed("A", 14, "0, 6"), "SMALL_A.txt, line 14: there is no 0 among the 7 lines"),
        (changed("A", 2, "1, 4"), "SMALL_A.txt, line 2: nodes 1 and 4 belong to different graphs"),
        (changed("A", 5, "1 3"), "SMALL_A.txt, line 5: '1 3' is not 2 whole numbers with a comma"),
        (changed("A", 5, "1, x"), "SMALL_A.txt, line 5: '1, x' is not 2 whole numbers"),
        (changed("A", 5, ""), "SMALL_A.txt, line 5: '' is not 2 whole numbers"),
        (changed("A", 5, "1, 99999999999999999999"), "SMALL_A.txt, line 5: "),
        (changed("graph_indicator", 4, "3"), "SMALL_graph_indicator.txt, line 4: there is no 3 among the 2"),
        (
            changed("graph_indicator", 4, "two"),
            "SMALL_graph_indicator.txt, line 4: 'two' is not a whole number",
        ),
        (changed("graph_labels", 2, "0.5"), "SMALL_graph_labels.txt, line 2: '0.5' is not a whole number"),
        (changed("graph_labels", 1, "nan"), "SMALL_graph_labels.txt, line 1: 'nan' is not a whole number"),
        (changed("node_labels", 7, "٣"), "SMALL_node_labels.txt, line 7: '٣' is not a whole number"),
        (changed("node_labels", 3, "1, 2"), "SMALL_node_labels.txt, line 3: '1, 2' is not a whole number"),
        (
            {**SMALL, "node_labels": "0\n0\n"},
            "SMALL_node_labels.txt has 2 lines and SMALL_graph_indicator.txt has 7",
        ),
        ({**SMALL, "graph_labels": "1\n1\n1\n"}, "SMALL_graph_labels.txt, line 3: graph 3 has no node"),
        ({**SMALL, "graph_indicator": ""}, "SMALL_graph_labels.txt, line 1: graph 1 has no node"),
        ({**SMALL, "graph_labels": ""}, "SMALL_graph_indicator.txt, line 1: there is no 1 among the 0 lines"),
        ({key: SMALL[key] for key in ("A", "graph_labels")}, "SMALL_graph_indicator.txt"),
        ({key: SMALL[key] for key in ("A", "graph_indicator")}, "SMALL_graph_labels.txt"),
        ({key: SMALL[key] for key in ("graph_labels", "graph_indicator")}, "has no file NAME_A.txt"),
    ],
)
def test_what_is_wrong_is_refused_with_file_and_line(tmp_path, files, sentence):
    with pytest.raises(InputError) as caught:
        read_graphs(written(tmp_path / "set", files))
    assert sentence in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_folder_has_one_set(tmp_path):
    written(tmp_path, name="ONE")
    written(tmp_path, name="TWO")
    with pytest.raises(InputError, match="has several sets, ONE, TWO"):
        read_graphs(tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        read_graphs(tmp_path / "ONE_A.txt")


def test_every_label_is_a_predicate_so_there_are_not_too_many(tmp_path):
    labels = "".join(f"{number}\n" for number in range(1001))
    files = {"A": "1, 2\n", "graph_indicator": "1\n" * 1001, "graph_labels": "1\n", "node_labels": labels}
    with pytest.raises(InputError, match="1001 different labels; at most 1000"):
        read_graphs(written(tmp_path, files))
