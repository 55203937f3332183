"""Canonical forms of object graphs, with building the graphs, against bare nauty calls on the same graphs."""

import time

import pynauty
from comparing import Row, report

from distill.planning import expand, problem_class
from distill.structures import Structures
from distill.symmetry import canonical_forms, isomorphism_classes, object_graphs


def nauty_graphs(batch: Structures) -> list[pynauty.Graph]:
    """The graphs that canonical forms are made of, to time nauty alone on them."""
    graphs: list[pynauty.Graph] = []

    def record(graph: pynauty.Graph) -> bytes:
        graphs.append(graph)
        return b""

    real, pynauty.certificate = pynauty.certificate, record
    canonical_forms(object_graphs(batch))
    pynauty.certificate = real
    return graphs


def main() -> None:
    """Compare on instances of a few thousand states; classes ask nauty only where colours do not suffice."""
    rows = []
    for name, number in (("blocks", 3), ("gripper", 0), ("logistics", 2)):
        data = expand(problem_class(name).make("train")[number], 200_000)
        assert data is not None
        batch = data.structures()
        graphs = nauty_graphs(batch)
        bare, ours, classes = [], [], []
        for _ in range(3):
            begun = time.perf_counter()
            for graph in graphs:
                pynauty.certificate(graph)
            bare.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            canonical_forms(object_graphs(batch))
            ours.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            isomorphism_classes([batch])
            classes.append(time.perf_counter() - begun)
        rows.append(Row(f"{name}, {len(data)} states: canonical forms / bare nauty", min(ours), min(bare)))
        rows.append(Row(f"{name}, {len(data)} states: classes / bare nauty", min(classes), min(bare)))
    report("isomorphism of object graphs", rows, limit=1.5)


if __name__ == "__main__":
    main()
