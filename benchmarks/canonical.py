"""Canonical forms of object graphs, with building these, against bare pynauty calls on the same graphs."""

import time

import pynauty
from comparing import Row, report

from distill.planning import expand, problem_class
from distill.structures import Structures
from distill.symmetry import canonical_forms, object_graphs


def nauty_graphs(batch: Structures) -> list[tuple[int, dict[int, list[int]], list[set[int]]]]:
    """The graphs that canonical forms are made of, as pynauty takes them, to time its calls alone."""
    graphs = []

    def record(graph: pynauty.Graph) -> bytes:
        graphs.append((graph.number_of_vertices, graph.adjacency_dict, graph.vertex_coloring))
        return b""

    real, pynauty.certificate = pynauty.certificate, record
    canonical_forms(object_graphs(batch))
    pynauty.certificate = real
    return graphs


def main() -> None:
    """Compare on instances of a few thousand states."""
    rows = []
    for name, number in (("blocks", 3), ("blocks-clear", 4), ("logistics", 2)):
        data = expand(problem_class(name).make("train")[number], 200_000)
        assert data is not None
        batch = data.structures()
        graphs = nauty_graphs(batch)
        bare, ours = [], []
        for _ in range(3):
            begun = time.perf_counter()
            for size, neighbours, cells in graphs:
                pynauty.certificate(pynauty.Graph(size, False, neighbours, cells))
            bare.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            canonical_forms(object_graphs(batch))
            ours.append(time.perf_counter() - begun)
        rows.append(Row(f"{name}, {len(data)} states", min(ours), min(bare)))
    report("canonical forms / bare pynauty calls", rows, limit=1.5)


if __name__ == "__main__":
    main()
