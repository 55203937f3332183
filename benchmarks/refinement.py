"""Colour refinement of all states of a domain: ours against plain Python, and against wlplan's C++.

All run the same number of iterations on the same states. wlplan refines its own graph encoding (instance
learning graphs), we refine structures.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from comparing import Row, report
from labelling import gripper

from distill.planning import DataSet, expand, problem_class
from distill.planning.pddl import silent_stdout
from distill.structures import Structures
from distill.symmetry import Refinement

_ITERATIONS = 4


State = tuple[int, list[tuple[str, tuple[int, ...]]]]


def decoded(batch: Structures) -> list[State]:
    """The number of objects and the atoms of each state, as plain Python would hold them."""
    sizes = np.diff(batch.object_offsets).tolist()
    return [(size, batch.decode(number)) for number, size in enumerate(sizes)]


def plain_python(states: list[State], depth: int) -> int:
    """A straightforward refinement, a state at a time, with dictionaries; returns the number of colours."""
    numbers: dict[object, int] = {}
    for size, atoms in states:
        nullary = tuple(name for name, arguments in atoms if not arguments)
        holds: list[list[str]] = [[] for _ in range(size)]
        hears: list[list[tuple[str, int, int]]] = [[] for _ in range(size)]
        for name, arguments in atoms:
            if len(arguments) == 1:
                holds[arguments[0]].append(name)
            elif len(arguments) == 2:
                hears[arguments[0]].append((name, 0, arguments[1]))
                hears[arguments[1]].append((name, 1, arguments[0]))
        colours = [numbers.setdefault((nullary, tuple(h)), len(numbers)) for h in holds]
        for _ in range(depth):
            keys = [
                (colours[x], tuple(sorted((name, end, colours[y]) for name, end, y in hears[x])))
                for x in range(size)
            ]
            colours = [numbers.setdefault(key, len(numbers)) for key in keys]
    return len(numbers)


def ours(batch: Structures, depth: int) -> int:
    """The same in bulk; returns the number of colours."""
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
        assert ours(batch, _ITERATIONS) == plain_python(states, _ITERATIONS)
        mine = seconds(lambda batch=batch: ours(batch, _ITERATIONS))
        plain = seconds(lambda states=states: plain_python(states, _ITERATIONS))
        rows.append(Row(f"{name}, {len(data)} states, ours / plain Python", mine, plain))
        encode = seconds(data.structures)
        with silent_stdout():
            peer = seconds(wlplan_features(data, _ITERATIONS))
        rows.append(Row(f"{name}, {len(data)} states, ours with encoding / wlplan", mine + encode, peer))
    report(f"{_ITERATIONS} iterations of colour refinement", rows)


if __name__ == "__main__":
    main()
