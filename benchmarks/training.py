"""A training step: lifted on stable rows, against plain execution of the same batches."""

import time

import numpy as np
import torch
from comparing import NETWORKS, Row, report

from distill.networks import RGNN, Examples, Network
from distill.planning import prepare_reduced, problem_class
from distill.structures import DataSet
from distill.symmetry import build_quotient_of

_BATCHES, _BATCH_SIZE = 20, 64


def plain_examples(network: Network, data: DataSet) -> Examples:
    """Examples in which every object has a row of its own."""
    return Examples(network.inputs(data.structures()), data.v_star.astype(np.float64))


def seconds(network: Network, examples: Examples, draws: list[np.ndarray]) -> float:
    """How long forward, backward and update of all batches take."""
    optimiser = torch.optim.Adam(network.parameters(), fused=True)
    begun = time.perf_counter()
    for drawn in draws:
        part = examples.part(drawn)
        loss = (part.run(network) - torch.from_numpy(part.label).float()).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return time.perf_counter() - begun


def main() -> None:
    """Compare on the reduced training sets of the five problem classes."""
    rows = []
    for name, architecture in NETWORKS.items():
        data, _ = prepare_reduced(problem_class(name).split("train"), reduce="wl", workers=2)
        form = RGNN(data.vocabulary, architecture)
        lifted = Examples.of_quotient(form, build_quotient_of({"train": data}).quotient, 0)
        plain = plain_examples(form, data)
        for size, title in ((_BATCH_SIZE, f"{_BATCH_SIZE} states"), (len(lifted), "all states")):
            if size > 3_000:
                continue
            rng = np.random.default_rng(0)
            n_batches = _BATCHES if size == _BATCH_SIZE else 3
            draws = [np.sort(rng.choice(len(lifted), size, replace=False)) for _ in range(n_batches)]
            times = []
            for examples in (lifted, plain):
                network = form.untrained(0)
                seconds(network, examples, draws[:1])
                times.append(seconds(network, examples, draws))
            rows.append(Row(f"{name}, batches of {title}", *times))
    report("training step, lifted / plain", rows, 1.25)


if __name__ == "__main__":
    main()
