"""100 000 Gripper states: encoding in bulk, and loading from disk, against encoding an atom at a time."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from comparing import Row, report
from labelling import gripper

from distill.planning import expand
from distill.structures import DataSet, Structures

_STATES = 100_000


def seconds(run: Callable[[], object]) -> float:
    """How long a call takes."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def atom_at_a_time(data: DataSet) -> Structures:
    """The plain algorithm: Python lists, one atom after the other."""
    relations: dict[str, list[list[int]]] = {predicate.name: [] for predicate in data.vocabulary}
    predicates = list(data.vocabulary)
    state_of_object: list[int] = []
    for state in range(len(data)):
        instance = data.state_instance[state]
        start = len(state_of_object)
        state_of_object += [state] * int(data.n_objects[instance])
        first = data.atom_offsets[instance]
        fixed = range(first, first + data.n_fixed[instance])
        own = data.state_atoms[data.state_offsets[state] : data.state_offsets[state + 1]]
        for atom in (*fixed, *own):
            predicate = predicates[data.atom_predicate[atom]]
            arguments = data.atom_arguments[atom][: predicate.arity]
            row = [start + int(argument) for argument in arguments] if predicate.arity else [state]
            relations[predicate.name].append(row)
    return Structures(data.vocabulary, len(data), state_of_object, relations)


def main() -> None:
    """Compare on the first 100 000 states of Gripper with 11 balls."""
    everything = expand(gripper(11), 1_000_000)
    assert everything is not None
    data = everything.pick(np.arange(_STATES))
    assert data.structures(slice(0, 500)) == atom_at_a_time(data.pick(np.arange(500)))
    bulk = min(seconds(data.structures) for _ in range(3))
    plain = seconds(lambda: atom_at_a_time(data))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "states.npz"
        data.save(file)
        load = min(seconds(lambda: DataSet.load(file)) for _ in range(3))
    report(
        f"{_STATES} Gripper states, ours / an atom at a time",
        [Row("encode in bulk", bulk, plain), Row("load from disk, then encode in bulk", load + bulk, plain)],
    )


if __name__ == "__main__":
    main()
