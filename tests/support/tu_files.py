"""Graphs in the TU format: a small set, and a writer."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from distill.graphs import GraphSet

# Two triangles, the second with a tail; node labels 0 and 7; classes -1 and 1.
SMALL = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n5, 6\n6, 5\n4, 6\n6, 4\n6, 7\n7, 6\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n2\n",
    "graph_labels": "-1\n1\n",
    "node_labels": "0\n0\n7\n0\n7\n7\n0\n",
}


def written(folder: Path, files: Mapping[str, str] = SMALL, name: str = "SMALL") -> Path:
    """A folder with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, text in files.items():
        (folder / f"{name}_{part}.txt").write_text(text)
    return folder


def write_set(data: GraphSet, folder: Path, seed: int = 0) -> Path:
    """The files of a set whose unary predicates are `labelN`, with edges in random order and direction."""
    random = np.random.default_rng(seed)
    edges = data.graphs.relations["edge"] + 1
    edges = edges[random.permutation(len(edges))]
    labels = np.zeros(data.graphs.n_objects, dtype=int)
    for predicate in data.graphs.vocabulary:
        if predicate.arity == 1:
            labels[data.graphs.relations[predicate.name][:, 0]] = int(predicate.name.removeprefix("label"))
    files = {
        "A": "".join(f"{first}, {second}\n" for first, second in edges.tolist()),
        "graph_indicator": "".join(f"{graph + 1}\n" for graph in data.graphs.state_of_object),
        "graph_labels": "".join(f"{data.classes[number]}\n" for number in data.label),
        "node_labels": "".join(f"{label}\n" for label in labels),
    }
    return written(folder, files, data.name)
