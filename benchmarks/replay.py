"""Replay of whole training sets: lifted on the quotient, colouring included, against plain execution.

The other peer is pymimir-rgnn: its forward pass alone, on states that it has already encoded, with the same
weights. Both must give the same values.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymimir
import pymimir_rgnn as rgnn
import torch
from comparing import NETWORKS, Row, report

from distill.networks import RGNN, Architecture, Checkpoint, Network, chunks, evaluate, replay
from distill.planning import prepare, problem_class
from distill.structures import Structures, Vocabulary, concatenate
from distill.symmetry import LabelledBatch, build_quotient

_PEER_STATES = {
    "gripper": 44_000,
    "blocks-clear": 49_000,
    "blocks-on": 49_000,
    "miconic": 5_000,
    "visitall": 3_000,
}

_MOST_OF_ONE = 5_000


def timed(run: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Seconds and result of a call, the fastest of three: the first one also loads what it needs."""
    spent = []
    for _ in range(times):
        begun = time.perf_counter()
        found = run()
        spent.append(time.perf_counter() - begun)
    return min(spent), found


def lifted(network: Network, batches: list[Structures]) -> np.ndarray:
    """V of every state: colour, build the quotient, replay it."""
    labelled = (LabelledBatch(batch, {}, np.zeros(len(batch))) for batch in batches)
    built = build_quotient(labelled, network.layers)
    found: np.ndarray = replay(network, built.quotient).value[built.state_row]
    return found


def plain(network: Network, batch: Structures) -> np.ndarray:
    """V of every state, one part after the other; like a replay it keeps the embeddings of all depths."""
    kept = []
    with torch.no_grad():
        for states, _ in chunks(batch):
            kept.append(evaluate(network, batch[states]))
    layers = range(network.layers + 1)
    embeddings = [np.concatenate([part.embeddings[depth].numpy() for part in kept]) for depth in layers]
    assert len(embeddings[-1]) == batch.n_objects
    return np.concatenate([part.value.numpy() for part in kept])


def against_plain(name: str, architecture: Architecture) -> Row:
    """The whole training set, without a reduction."""
    data, _ = prepare(problem_class(name).split("train"), reduce="none", workers=2)
    torch.manual_seed(0)
    network = RGNN(data.vocabulary, architecture)
    structures = data.structures()
    ours, first = timed(lambda: lifted(network, [structures]))
    peer, second = timed(lambda: plain(network, structures))
    assert np.allclose(first, second, rtol=1e-3, atol=1e-3)
    return Row(f"{name}, {len(data)} states / plain execution of our own", ours, peer)


def peer_network(domain: Any, architecture: Architecture) -> Any:
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


def reachable(problem: Any, at_most: int) -> list[Any]:
    """The first states of a pymimir problem, breadth first."""
    seen = {problem.get_initial_state(): None}
    for state in (todo := list(seen)):
        for action in state.generate_applicable_actions():
            after = action.apply(state)
            if after not in seen and len(seen) < at_most:
                seen[after] = None
                todo.append(after)
    return list(seen)


def as_structures(vocabulary: Vocabulary, problem: Any, states: list[Any]) -> Structures:
    """The same states as structures with marked goals."""
    objects = [item.get_name() for item in problem.get_objects()]
    number = {name: place for place, name in enumerate(objects)}
    goals = [literal.get_atom() for literal in problem.get_goal_condition()]
    relations: dict[str, list[list[int]]] = {predicate.name: [] for predicate in vocabulary}
    for place, state in enumerate(states):
        atoms = [(atom, "") for atom in state.get_atoms()]
        atoms += [(goal, "_G,T" if state.contains(goal) else "_G,F") for goal in goals]
        for atom, ending in atoms:
            name = atom.get_predicate().get_name() + ending
            if name in relations:
                row = [place * len(objects) + number[term.get_name()] for term in atom.get_terms()]
                relations[name].append(row or [place])
    owner = np.repeat(np.arange(len(states)), len(objects))
    return Structures(vocabulary, len(states), owner, relations)


def against_pymimir_rgnn(name: str, architecture: Architecture) -> Row:
    """Training instances until there are enough states; of large ones the first states."""
    instances = problem_class(name).make("train")
    vocabulary = instances[0].domain.vocabulary().marked()
    forwards, batches = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = {"domain": Path(folder) / "domain.pddl", "problem": Path(folder) / "problem.pddl"}
        files["domain"].write_text(instances[0].domain.text)
        domain = pymimir.Domain(str(files["domain"]))
        torch.manual_seed(0)
        theirs = peer_network(domain, architecture)
        theirs.save(Path(folder) / "net.pth")
        network = Checkpoint.load(Path(folder) / "net.pth").network
        left = _PEER_STATES[name]
        for instance in instances:
            if left <= 0:
                break
            files["problem"].write_text(instance.text)
            problem = pymimir.Problem(domain, str(files["problem"]))
            states = reachable(problem, min(left, _MOST_OF_ONE))
            left -= len(states)
            goal = problem.get_goal_condition()
            forwards.append(theirs.curry_forward([(state, goal) for state in states]))
            batches.append(as_structures(vocabulary, problem, states))
    batch = concatenate(batches)
    with torch.no_grad():
        peer, second = timed(
            lambda: np.concatenate([forward().readout("value").numpy() for forward in forwards])
        )
    ours, first = timed(lambda: lifted(network, [batch]))
    assert np.allclose(first, second, rtol=1e-2, atol=1e-2)
    return Row(f"{name}, {len(batch)} states / forward of pymimir-rgnn", ours, peer)


def main() -> None:
    """Compare on the five problem classes; ratios below 1 mean that we are faster."""
    # Colouring runs on one processor, so both sides get one.
    torch.set_num_threads(1)
    rows = [against_plain(name, architecture) for name, architecture in NETWORKS.items()]
    rows += [against_pymimir_rgnn(name, architecture) for name, architecture in NETWORKS.items()]
    report("replay, ours / the other way", rows, 1.25)


if __name__ == "__main__":
    main()
