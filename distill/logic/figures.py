"""Drawings of states: objects, atoms, and the objects that satisfy a formula."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import drawing
from distill.structures import Predicate, Structures

_HELD, _OTHER = "#e8a33d", "#dfe3e8"
_MOST_NAMED = 80  # objects; the names of more would cover the drawing


def draw_state(
    path: Path, state: Structures, names: list[str], held: NDArray[np.bool_], title: str, caption: str = ""
) -> None:
    """Draw a state as a graph; the objects that satisfy a formula are highlighted.

    Binary atoms are arrows, dashed for goals; unary atoms are listed under the name.

    Parameters
    ----------
    state : one structure.
    names : of its objects.
    held : (n_objects,) which objects to highlight.

    Examples
    --------
    >>> import tempfile
    >>> from distill.structures import Vocabulary
    >>> tower = Structures(Vocabulary([Predicate("on", 2)]), 1, [0, 0], {"on": [[0, 1]]})
    >>> file = Path(tempfile.mkdtemp()) / "tower.png"
    >>> draw_state(file, tower, ["a", "b"], np.array([True, False]), "<on>top")
    >>> file.exists()
    True
    """
    import networkx as nx

    binary = [p for p in state.vocabulary if p.arity == 2 and len(state.atoms(p.name))]
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(state.n_objects))
    for predicate in binary:
        graph.add_edges_from(map(tuple, state.atoms(predicate.name).tolist()))
    size = 4 + 0.9 * np.sqrt(state.n_objects)
    with drawing(path, width=max(6.0, size), height=max(4.0, 0.75 * size)) as [axes]:
        place = _places(graph)
        colours = [_HELD if own else _OTHER for own in held]
        nx.draw_networkx_nodes(graph, place, ax=axes, node_color=colours, edgecolors="#555", node_size=700)
        for number, predicate in enumerate(binary):
            nx.draw_networkx_edges(
                graph,
                place,
                ax=axes,
                edgelist=[tuple(atom) for atom in state.atoms(predicate.name).tolist()],
                edge_color=f"C{number}",
                style="dashed" if predicate.role == "goal" else "solid",
                connectionstyle=f"arc3,rad={0.1 + 0.08 * number}",
                node_size=700,
            )
            style = "--" if predicate.role == "goal" else "-"
            axes.plot([], [], style, color=f"C{number}", label=predicate.name)
        if state.n_objects <= _MOST_NAMED:
            labels = {number: _label(state, number, name) for number, name in enumerate(names)}
            nx.draw_networkx_labels(graph, place, labels, ax=axes, font_size=7)
        axes.plot([], [], "o", color=_HELD, label="the formula holds")
        axes.legend(loc="best", fontsize=7)
        axes.set_title(title, fontsize=9, wrap=True)
        axes.set_xlabel(caption)
        axes.margins(0.15)
        axes.set_axis_off()


def _places(graph: Any) -> dict[int, NDArray[np.float64]]:
    """Positions of objects: linked objects together, components side by side."""
    import networkx as nx

    found: dict[int, NDArray[np.float64]] = {}
    left = 0.0
    for group in nx.weakly_connected_components(graph):
        part = nx.DiGraph(graph.subgraph(sorted(group)))
        if nx.is_directed_acyclic_graph(part):
            # Arrows point downwards, so that a block is drawn above the block it is on.
            layers = [sorted(layer) for layer in nx.topological_generations(part)]
            width = max(map(len, layers))
            own = {
                number: np.array([(place + 0.5) * width / len(layer), 0.8 * (len(layers) / 2 - depth)])
                for depth, layer in enumerate(layers)
                for place, number in enumerate(layer)
            }
        else:
            width = 1.5 * np.sqrt(len(group))
            own = nx.kamada_kawai_layout(nx.Graph(part), scale=width / 2, center=(width / 2, 0.0))
        found |= {number: np.add(place, (left, 0.0)) for number, place in own.items()}
        left += width + 0.5
    return found


def _label(state: Structures, number: int, name: str) -> str:
    own = [p.name for p in state.vocabulary if _is_informative(p) and number in state.atoms(p.name)[:, 0]]
    return "\n".join([name, *own])


def _is_informative(predicate: Predicate) -> bool:
    return predicate.arity == 1 and predicate.role not in ("type", "constant")
