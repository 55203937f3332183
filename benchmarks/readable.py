"""From a network to an exact value function, against one R-IDT fit with scikit-learn's trees on raw objects.

Ours is the whole path: rows, replay, readable trees, and the regression that finds whole weights; the result
must be exact on all states. The other side is only the trees about objects of the thesis's method, ten of
depth 5 for each layer: one of them is timed, in the middle layer and with the features we find before it,
and multiplied by the number of all. Both get the same training states, and processor time counts.
"""

import time

import torch
from comparing import Row, report
from distillation import Raw, drawn, first_tree, network_of, training_states
from threadpoolctl import threadpool_limits

from distill.distillation import distil
from distill.networks import Checkpoint

_STATES = {
    "gripper": 10_000,
    "blocks-clear": 10_000,
    "blocks-on": 10_000,
    "miconic": 2_000,
    "visitall": 1_000,
}
_WIDTH = 10  # trees for each layer


def compared(name: str, states: int) -> Row:
    """Our whole path and the other side's trees."""
    data = drawn(training_states(name), states)
    begun = time.process_time()
    result = distil(Checkpoint(network_of(name)), {"train": data})
    distilled = result.explanation
    ours = time.process_time() - begun
    assert result.fit["exact"], name
    raw = Raw.of(data, name)
    one, _ = first_tree(raw, (raw.layers + 1) // 2)
    trees = _WIDTH * raw.layers
    title = f"{name}, {states} states, size {distilled.value.size} / {trees} times one tree of scikit-learn"
    return Row(title, ours, one * trees)


def main() -> None:
    """Compare; ratios below 1 mean that we are faster."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        rows = [compared(name, states) for name, states in _STATES.items()]
        report("checkpoint to exact value function, ours / trees on raw objects", rows, 1)


if __name__ == "__main__":
    main()
