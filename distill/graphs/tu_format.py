"""Graphs in the format of the TU datasets (https://chrsmrrs.github.io/datasets).

A folder has these text files, where NAME is the name of the set. Nodes and graphs are numbered from 1.

| file | line | content |
| --- | --- | --- |
| NAME_A.txt | each edge | two nodes, separated by a comma; usually in both directions |
| NAME_graph_indicator.txt | each node | its graph |
| NAME_graph_labels.txt | each graph | its class, a whole number |
| NAME_node_labels.txt | each node | its label, a whole number; without the file nodes have no labels |

Other files of a set are ignored. Edges are undirected, as for IDTs. A node with label 3 satisfies `label3`.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError, read_text, shown
from distill.graphs.graph_set import GraphSet, graph_structures

Integers = NDArray[np.int64]
_EDGES, _GRAPHS, _CLASSES, _LABELS = "A", "graph_indicator", "graph_labels", "node_labels"
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_MOST_LABELS = 1000  # node labels; each is a predicate


def read_graphs(folder: Path) -> GraphSet:
    """Read the graphs of a folder.

    A file that is missing or wrong is refused with its name and line.
    """
    name = _name(folder)
    files = {part: folder / f"{name}_{part}.txt" for part in (_EDGES, _GRAPHS, _CLASSES, _LABELS)}
    classes = _numbers(files[_CLASSES])[:, 0]
    indicator = _numbers(files[_GRAPHS])[:, 0]
    _check_range(files[_GRAPHS], indicator[:, None], len(classes), f"graph of {files[_CLASSES].name}")
    empty = np.setdiff1d(np.arange(1, len(classes) + 1), indicator)
    if len(empty):
        raise InputError(
            f"{shown(files[_CLASSES])}, line {empty[0]}: graph {empty[0]} has no node in "
            f"{files[_GRAPHS].name}; remove it, or add its nodes."
        )
    edges = _numbers(files[_EDGES], 2)
    _check_range(files[_EDGES], edges, len(indicator), f"node of {files[_GRAPHS].name}")
    crossing = np.flatnonzero(indicator[edges[:, 0] - 1] != indicator[edges[:, 1] - 1])
    if len(crossing):
        first, second = edges[crossing[0]]
        raise InputError(
            f"{shown(files[_EDGES])}, line {crossing[0] + 1}: nodes {first} and {second} belong to different "
            "graphs; an edge must stay in its graph."
        )
    labels = _numbers(files[_LABELS])[:, 0] if files[_LABELS].exists() else None
    if labels is not None and len(labels) != len(indicator):
        raise InputError(
            f"{shown(files[_LABELS])} has {len(labels)} lines and {files[_GRAPHS].name} has "
            f"{len(indicator)}; both need one for each node."
        )
    order = np.argsort(indicator, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    values, label = np.unique(classes, return_inverse=True)
    graphs = graph_structures(
        len(classes), indicator[order] - 1, place[edges - 1], _named(files[_LABELS], labels, place)
    )
    return GraphSet(name, graphs, label, tuple(map(str, values.tolist())))


def _name(folder: Path) -> str:
    suffix = f"_{_EDGES}.txt"
    if not folder.is_dir():
        raise InputError(f"{shown(folder)} is no folder; give one with the files NAME{suffix} and others.")
    found = sorted(file.name.removesuffix(suffix) for file in folder.glob(f"*{suffix}"))
    if not found:
        raise InputError(f"{shown(folder)} has no file NAME{suffix}; give a folder in the TU format.")
    if len(found) > 1:
        raise InputError(f"{shown(folder)} has several sets, {shown(', '.join(found))}; give each a folder.")
    return found[0]


def _numbers(file: Path, columns: int = 1) -> Integers:
    """(n_lines, columns) the whole numbers in a file; a wrong line is refused with its number."""
    text = read_text(file).rstrip()
    lines = text.split("\n") if text else []
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    for number, row in enumerate(rows, 1):
        if len(row) != columns or not all(map(_NUMBER.fullmatch, row)):
            wanted = (
                "a whole number" if columns == 1 else f"{columns} whole numbers with a comma between them"
            )
            raise InputError(
                f"{shown(file)}, line {number}: {shown(lines[number - 1])!r} is not {wanted}; correct it."
            )
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)


def _check_range(file: Path, numbers: Integers, most: int, of: str) -> None:
    """Refuse numbers (n_lines, columns) that are not from 1 to `most`."""
    wrong = np.argwhere((numbers < 1) | (numbers > most))
    if len(wrong):
        line, column = wrong[0]
        raise InputError(
            f"{shown(file)}, line {line + 1}: there is no {numbers[line, column]} among the {most} lines: it "
            f"must be the number of a {of}."
        )


def _named(file: Path, labels: Integers | None, place: Integers) -> list[tuple[str, Integers]]:
    """A unary predicate for each label, with its nodes."""
    if labels is None:
        return []
    values = np.unique(labels).tolist()
    if len(values) > _MOST_LABELS:
        raise InputError(
            f"{shown(file)} has {len(values)} different labels; at most {_MOST_LABELS} are supported."
        )
    return [(f"label{value}", place[labels == value]) for value in values]
