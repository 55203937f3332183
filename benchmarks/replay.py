"""Replay of whole training sets: lifted on the quotient, colouring included, against plain execution.

The second table has pymimir-rgnn as the peer: its forward pass alone, on states that it has already encoded,
with the same weights. Both must give the same values.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from comparing import Row, report

from distill.jobs import build_quotient_of
from distill.models import Architecture, Checkpoint, Network, replay, values
from distill.planning import DataSet, Instance, expand, join, prepare, problem_class

_NETWORKS = {
    "gripper": Architecture(layers=5, size=16),
    "blocks-clear": Architecture(layers=12),
    "blocks-on": Architecture(layers=12, aggregation="max"),
    "miconic": Architecture(layers=5, pooling="max"),
    "visitall": Architecture(layers=20, aggregation="max", pooling="max"),
}
_PEER_STATES = 3_000


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of a call."""
    begun = time.perf_counter()
    found = run()
    return time.perf_counter() - begun, found


def lifted(network: Network, data: DataSet) -> np.ndarray:
    """V of every state: colour, build the quotient, replay it."""
    marking = network.architecture.goal_marking
    built = build_quotient_of({"all": data}, network.architecture.layers, goal_marking=marking)
    found: np.ndarray = replay(network, built.quotient).value[built.state_row]
    return found


def against_plain(name: str, architecture: Architecture) -> Row:
    """The whole training set, without a reduction."""
    data, _ = prepare(problem_class(name).split("train"), reduce="none", workers=2)
    torch.manual_seed(0)
    network = Network(data.vocabulary, architecture)
    structures = data.structures()
    ours, first = timed(lambda: lifted(network, data))
    peer, second = timed(lambda: values(network, structures))
    assert np.allclose(first, second, rtol=1e-3, atol=1e-3)
    return Row(f"{name}: {len(data)} states, {structures.n_objects} objects", ours, peer)


def peer_network(rgnn: Any, domain: Any, architecture: Architecture) -> Any:
    """A network of pymimir-rgnn with the same sizes and aggregation."""
    options = rgnn.HyperparameterConfig(
        domain=domain,
        embedding_size=architecture.size,
        num_layers=architecture.layers,
        normalize_updates=False,
    )
    encoders = (rgnn.StateEncoder(), rgnn.GoalEncoder())
    kind = "SmoothMaximum" if architecture.aggregation == "logsumexp" else "HardMaximum"
    modules = rgnn.ModuleConfig(
        aggregation_function=getattr(rgnn, f"{kind}Aggregation")(),
        message_function=rgnn.PredicateMLPMessages(options, encoders),
        update_function=rgnn.MLPUpdates(options),
    )
    heads = [("value", rgnn.ObjectsScalarDecoder(options))]
    return rgnn.RelationalGraphNeuralNetwork(options, modules, encoders, heads)


def reachable(problem: Any) -> list[Any]:
    """All states of a pymimir problem."""
    first = problem.get_initial_state()
    seen = {first: None}
    todo = [first]
    while todo:
        state = todo.pop()
        for action in state.generate_applicable_actions():
            after = action.apply(state)
            if after not in seen:
                seen[after] = None
                todo.append(after)
    return list(seen)


def instances_of(name: str) -> list[Instance]:
    """Training instances with about so many states as the peer is given."""
    chosen, total = [], 0
    for instance in problem_class(name).make("train"):
        data = expand(instance, _PEER_STATES)
        if data is not None:
            chosen.append(instance)
            total += len(data)
        if total > _PEER_STATES:
            break
    return chosen


def against_pymimir_rgnn(name: str, architecture: Architecture) -> Row:
    """Some instances of the training set."""
    import pymimir
    import pymimir_rgnn

    instances = instances_of(name)
    with tempfile.TemporaryDirectory() as folder:
        files = {"domain": Path(folder) / "domain.pddl", "problem": Path(folder) / "problem.pddl"}
        files["domain"].write_text(instances[0].domain.text)
        domain = pymimir.Domain(str(files["domain"]))
        torch.manual_seed(0)
        theirs = peer_network(pymimir_rgnn, domain, architecture)
        theirs.save(Path(folder) / "net.pth")
        ours = Checkpoint.load(Path(folder) / "net.pth").network
        forwards = []
        for instance in instances:
            files["problem"].write_text(instance.text)
            problem = pymimir.Problem(domain, str(files["problem"]))
            goal = problem.get_goal_condition()
            forwards.append(theirs.curry_forward([(state, goal) for state in reachable(problem)]))
    data = join([part for instance in instances if (part := expand(instance, 10 * _PEER_STATES))])
    with torch.no_grad():
        peer, second = timed(
            lambda: np.concatenate([forward().readout("value").numpy() for forward in forwards])
        )
    own, first = timed(lambda: lifted(ours, data))
    assert np.allclose(np.sort(first), np.sort(second), rtol=1e-2, atol=1e-2)
    return Row(f"{name}: {len(data)} states", own, peer)


def main() -> None:
    """Compare on the five problem classes; ratios below 1 say that we are faster."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--only", choices=_NETWORKS, help="one problem class")
    chosen, _ = parser.parse_known_args()
    names = [chosen.only] if chosen.only else list(_NETWORKS)
    report("replay, ours / plain execution of our own", [against_plain(n, _NETWORKS[n]) for n in names], 1.25)
    rows = [against_pymimir_rgnn(n, _NETWORKS[n]) for n in names]
    report("replay, ours / forward of pymimir-rgnn", rows, 1.25)


if __name__ == "__main__":
    main()
