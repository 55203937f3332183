"""1-WL over all states of an instance: ours against plain Python, and against wlplan's C++.

The plain algorithm goes state by state: build the object graph, refine it until it is stable, keep the
histogram. We refine the structures of all states at once; both must find the same number of histograms.
wlplan refines its own graphs of the same states for a fixed number of iterations, and so do we beside it.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from comparing import Row, report
from labelling import gripper

from distill.planning import expand, problem_class, silent_stdout
from distill.structures import DataSet, Options, Structures
from distill.symmetry import Refinement

_ITERATIONS = 4


State = tuple[int, list[tuple[str, tuple[int, ...]]]]


def decoded(batch: Structures) -> list[State]:
    """The number of objects and the atoms of each state, as plain Python would hold them."""
    sizes = np.diff(batch.object_offsets).tolist()
    return [(size, batch.decode(number)) for number, size in enumerate(sizes)]


def plain_python(states: list[State]) -> int:
    """1-WL on object graphs, a state at a time, with dictionaries; returns the number of histograms."""
    numbers: dict[object, int] = {}
    histograms = set()
    for size, atoms in states:
        kinds: list[object] = [None] * size
        neighbours: list[list[int]] = [[] for _ in range(size)]
        for name, arguments in atoms:
            for position, argument in enumerate(arguments):
                vertex = len(kinds)
                kinds.append((name, position))
                neighbours.append([argument])
                neighbours[argument].append(vertex)
                if position:
                    neighbours[vertex].append(vertex - 1)
                    neighbours[vertex - 1].append(vertex)
        colours = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
        rounds, classes, finer = 0, -1, len(set(colours))
        while finer > classes:
            pairs = zip(colours, neighbours, strict=True)
            keys = [(own, tuple(sorted([colours[w] for w in near]))) for own, near in pairs]
            colours = [numbers.setdefault(key, len(numbers)) for key in keys]
            rounds, classes, finer = rounds + 1, finer, len(set(colours))
        histograms.add((rounds, tuple(sorted(colours))))
    return len(histograms)


def ours_stable(batch: Structures) -> int:
    """The same in bulk."""
    return len(set(Refinement(Options(nullary=False)).keys(batch)))


def ours(batch: Structures, depth: int) -> int:
    """So many iterations in bulk; returns the number of colours."""
    refinement = Refinement()
    for _ in refinement.layers(batch, depth):
        pass
    return len(refinement)


def wlplan_features(data: DataSet, depth: int) -> Callable[[], object]:
    """Prepare wlplan's colour collection on the same states; everything but the colouring is done before."""
    from wlplan.data import DomainDataset, ProblemDataset
    from wlplan.feature_generator import init_feature_generator
    from wlplan.planning import Atom, State, parse_domain, parse_problem

    problems = []
    with tempfile.TemporaryDirectory() as folder:
        domain_file = Path(folder) / "domain.pddl"
        domain_file.write_text(data.domain)
        domain = parse_domain(str(domain_file))
        predicates = {predicate.name: predicate for predicate in domain.predicates}
        for number, instance in enumerate(data.instances):
            file = Path(folder) / "problem.pddl"
            file.write_text(instance["pddl"])
            problem = parse_problem(str(domain_file), str(file))
            states = []
            for state in np.flatnonzero(data.state_instance == number):
                atoms = (name.strip("()").split() for name in data.atom_names(int(state)))
                known = [Atom(predicates[name], objects) for name, *objects in atoms if name in predicates]
                states.append(State(known))
            problems.append(ProblemDataset(problem=problem, states=states))
    dataset = DomainDataset(domain=domain, data=problems)

    def run() -> object:
        generator = init_feature_generator(
            feature_algorithm="wl", domain=domain, graph_representation="ilg", iterations=depth
        )
        generator.collect(dataset)
        return generator

    return run


def seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of a few runs."""
    taken = []
    for _ in range(repeats):
        begun = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def main() -> None:
    """Compare on instances with a few thousand to some ten thousand states."""
    rows = []
    numbers = {"blocks": 3, "blocks-clear": 4, "logistics": 2, "miconic": 12}
    instances = [problem_class(name).make("train")[number] for name, number in numbers.items()]
    for instance in [gripper(8), *instances]:
        name, data = instance.name, expand(instance, 200_000)
        assert data is not None
        batch = data.structures()
        states = decoded(batch)
        assert ours_stable(batch) == plain_python(states)
        stable = seconds(lambda batch=batch: ours_stable(batch))
        plain = seconds(lambda states=states: plain_python(states))
        rows.append(Row(f"{name}, {len(data)} states, 1-WL until stable / plain Python", stable, plain))
        mine = seconds(lambda batch=batch: ours(batch, _ITERATIONS))
        encode = seconds(data.structures)
        with silent_stdout():
            peer = seconds(wlplan_features(data, _ITERATIONS))
        rows.append(
            Row(
                f"{name}, {len(data)} states, {_ITERATIONS} iterations with encoding / wlplan",
                mine + encode,
                peer,
            )
        )
    report("colour refinement, ours / the peer's", rows)


if __name__ == "__main__":
    main()
