"""Expansion, labelling and encoding against pymimir's bare expansion of the same instances.

Our Python must not be the bottleneck: the ratio is meant to stay below 3.
"""

import time
from collections.abc import Callable

import pymimir.advanced.search as search
from comparing import Row, report

from distill.planning import Domain, Instance, Layout, expand, problem_class

_MANY = 1_000_000


def gripper(balls: int) -> Instance:
    """All balls from one room to another, as in the classic task."""
    names = [f"ball{i}" for i in range(balls)]
    kinds = [("room", "a"), ("room", "b"), ("gripper", "left"), ("gripper", "right")]
    init = [*kinds, *(("ball", b) for b in names), *(("at", b, "a") for b in names)]
    init += [("at-robby", "a"), ("free", "left"), ("free", "right")]
    layout = Layout({"": ["a", "b", "left", "right", *names]}, init, [("at", names[0], "b")])
    return Instance(
        problem_class("gripper").domain, layout.to_pddl("p", "gripper"), f"gripper, {balls} balls"
    )


def fresh(instance: Instance) -> Instance:
    """The same instance without anything cached, so that both sides start from the text."""
    return Instance(Domain(instance.domain.text), instance.text, instance.name)


def bare(instance: Instance) -> int:
    """Expand every reachable state in pymimir, and nothing else."""
    options = search.BrFSOptions()
    options.stop_if_goal = False
    options.max_num_states = _MANY
    search.find_solution_brfs(instance.context, options)
    return int(instance.context.get_state_repository().get_state_count())


def ours(instance: Instance) -> int:
    """Expand, label and encode."""
    data = expand(instance, _MANY)
    assert data is not None
    return data.structures().n_states


def best(run: Callable[[Instance], int], instance: Instance, repeats: int = 3) -> tuple[float, int]:
    """The shortest of a few runs, and the number of states."""
    seconds, states = [], 0
    for _ in range(repeats):
        clean = fresh(instance)
        begun = time.perf_counter()
        states = run(clean)
        seconds.append(time.perf_counter() - begun)
    return min(seconds), states


def main() -> None:
    """Compare on instances of a few thousand to a hundred thousand states."""
    classes = {name: problem_class(name).make("train") for name in ("blocks", "blocks-on", "logistics")}
    instances = [
        gripper(8),
        gripper(11),
        classes["blocks"][3],
        classes["blocks-on"][4],
        classes["logistics"][2],
    ]
    rows = []
    for instance in instances:
        theirs, expanded = best(bare, instance)
        mine, encoded = best(ours, instance)
        assert expanded == encoded, (instance.name, expanded, encoded)
        rows.append(Row(f"{instance.name}: {encoded} states", mine, theirs))
    report("expand + label + encode / pymimir's bare expansion", rows, limit=3.0)


if __name__ == "__main__":
    main()
