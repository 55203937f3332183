"""The states that trees learn from, and what the network computes on them."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from distill.jobs.fitting import rank_within
from distill.jobs.quotient import build_quotient_of
from distill.models import Checkpoint, Network, Replay, replay
from distill.planning import UNSOLVABLE, DataSet
from distill.settings import Distillation
from distill.structures import Options, Quotient, read_archive, write_archive
from distill.structures.ranges import mixed
from distill.symmetry import Labelled, build_quotient, signatures

Integers = NDArray[np.int64]

KIND = "sample"
_JOINT = Options(joint=True)
_VALIDATION = 0.3  # validation states for each training state that trees learn from


@dataclass(frozen=True, eq=False)
class Sample:
    """States that trees learn from.

    Attributes
    ----------
    quotient : of these states.
    chosen : (n_state_rows,) which rows of the quotient of all known states they are.
    activations : what the network computes on the quotient; none without a network.
    """

    quotient: Quotient
    chosen: Integers
    activations: Replay | None

    def save(self, path: Path) -> None:
        """Write it to a few files beside each other."""
        self.quotient.save(_beside(path, "quotient"))
        if self.activations is not None:
            self.activations.save(_beside(path, "activations"))
        write_archive(path, {"chosen": self.chosen}, {"kind": KIND, "network": self.activations is not None})

    @staticmethod
    def load(path: Path) -> "Sample":
        """Read what `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        activations = Replay.load(_beside(path, "activations")) if metadata["network"] else None
        return Sample(Quotient.load(_beside(path, "quotient")), arrays["chosen"], activations)


def _beside(path: Path, part: str) -> Path:
    return path.with_name(f"{path.stem}-{part}.npz")


def known_rows(sets: Mapping[str, DataSet], *, goal_marking: bool = False) -> Quotient:
    """The stable quotient, with joint messages, of the states that may be looked at before testing."""
    known = {name: sets[name] for name in ("train", "validation") if name in sets and len(sets[name])}
    return build_quotient_of(known, None, _JOINT, goal_marking=goal_marking).quotient.settled()


def marks_goals(checkpoint: Checkpoint | None) -> bool:
    """Whether formulas are to speak of achieved and missing goals."""
    return checkpoint is not None and checkpoint.network.architecture.goal_marking


def draw_sample(checkpoint: Checkpoint | None, whole: Quotient, settings: Distillation) -> Sample:
    """States spread over V*, for readable mode.

    Parameters
    ----------
    checkpoint : the network, if there is one.
    whole : all known states.
    """
    rows = _spread(whole, settings)
    labelled = Labelled(
        whole.states[whole.chosen[rows]], whole.v_star[rows], whole.split[rows], whole.multiplicity[rows]
    )
    built = build_quotient([labelled], None, whole.options)
    chosen = np.empty(len(rows), dtype=np.int64)
    chosen[built.state_row] = rows
    activations = _activations(checkpoint.network, built.quotient, settings) if checkpoint else None
    return Sample(built.quotient, chosen, activations)


def every_state(checkpoint: Checkpoint, data: DataSet) -> Sample:
    """All training states, for the other modes."""
    network = checkpoint.network
    depth, marking = network.architecture.layers, network.architecture.goal_marking
    quotient = build_quotient_of({"train": data}, depth, goal_marking=marking).quotient
    return Sample(quotient, np.arange(len(quotient.v_star)), replay(network, quotient))


def _activations(network: Network, sample: Quotient, settings: Distillation) -> Replay:
    """What the network computes; or, as a control, what one computes that knows nothing."""
    if settings.control == "untrained":
        network = copy.deepcopy(network)
        torch.manual_seed(settings.seed)
        for module in network.modules():
            if isinstance(module, torch.nn.Linear | torch.nn.LayerNorm):
                module.reset_parameters()
    found = replay(network, sample)
    if settings.control == "permuted":
        random = np.random.default_rng(settings.seed)
        embeddings = tuple(random.permutation(one) for one in found.embeddings)
        found = replace(found, embeddings=embeddings, pooled=random.permutation(found.pooled))
    return found


def _spread(whole: Quotient, settings: Distillation) -> Integers:
    """State rows of each split, as many of each V* as there may be; which ones, their signatures decide."""
    codes = mixed(signatures(whole.states)[1][whole.chosen] + np.uint64(settings.seed))
    chosen = []
    for split, most in ((0, settings.states), (1, int(_VALIDATION * settings.states))):
        rows = np.flatnonzero((whole.split == split) & (whole.v_star != UNSOLVABLE))
        rank = rank_within(whole.v_star[rows], codes[rows])
        chosen.append(np.sort(rows[np.lexsort((codes[rows], rank))[:most]]))
    return np.concatenate(chosen)
