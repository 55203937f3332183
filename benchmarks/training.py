"""A training step: lifted on stable rows, against plain execution of the same batches."""

import time

import numpy as np
import torch
from comparing import NETWORKS, Row, report

from distill.jobs import build_quotient_of, prepare_reduced
from distill.models import Bags, Examples, Network, wire_structures
from distill.planning import DataSet, problem_class

_BATCHES, _BATCH_SIZE = 20, 64


def plain_examples(data: DataSet) -> Examples:
    """Examples in which every object has a row of its own."""
    states = data.structures()
    objects = np.arange(states.n_objects)
    bags = Bags(states.object_offsets, objects, np.ones(states.n_objects))
    return Examples(wire_structures(states, data.vocabulary), bags, data.v_star.astype(np.float64))


def seconds(network: Network, examples: Examples, draws: list[np.ndarray]) -> float:
    """How long forward, backward and update of all batches take."""
    optimiser = torch.optim.Adam(network.parameters(), fused=True)
    begun = time.perf_counter()
    for drawn in draws:
        part = examples.part(drawn)
        loss = (part.run(network) - torch.from_numpy(part.v_star).float()).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return time.perf_counter() - begun


def main() -> None:
    """Compare on the reduced training sets of the five problem classes."""
    rows = []
    for name, architecture in NETWORKS.items():
        data, _ = prepare_reduced(problem_class(name).split("train"), reduce="wl", workers=2)
        lifted = Examples.of_quotient(build_quotient_of({"train": data}).quotient, data.vocabulary, 0)
        plain = plain_examples(data)
        for size, title in ((_BATCH_SIZE, f"{_BATCH_SIZE} states"), (len(lifted), "all states")):
            if size > 3_000:
                continue
            rng = np.random.default_rng(0)
            n_batches = _BATCHES if size == _BATCH_SIZE else 3
            draws = [np.sort(rng.choice(len(lifted), size, replace=False)) for _ in range(n_batches)]
            times = []
            for examples in (lifted, plain):
                torch.manual_seed(0)
                network = Network(data.vocabulary, architecture)
                seconds(network, examples, draws[:1])
                times.append(seconds(network, examples, draws))
            rows.append(Row(f"{name}, batches of {title}", *times))
    report("training step, lifted / plain", rows, 1.25)


if __name__ == "__main__":
    main()
