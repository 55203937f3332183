"""The states that trees are fitted to, and the activations of the network on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from distill.common import rank_within, scramble
from distill.distillation.settings import Distillation
from distill.networks import POOLED, Checkpoint, Network, Replay, quotient_for, replay
from distill.structures import UNSOLVABLE, V_STAR, DataSet, Options, Quotient, read_archive, write_archive
from distill.symmetry import LabelledBatch, build_quotient, build_quotient_of, signatures

Integers = NDArray[np.int64]

KIND = "sample"
_JOINT = Options(joint=True)
_VALIDATION = 0.3  # validation states for each training state


@dataclass(frozen=True, eq=False)
class Sample:
    """States that trees are fitted to.

    Attributes
    ----------
    quotient : of these states.
    chosen : (n_state_rows,) their rows in the quotient of all known states.
    activations : of the network on the quotient; None without a network.
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
    """The stable quotient, with joint messages, of all training and validation states."""
    known = {name: sets[name] for name in ("train", "validation") if name in sets and len(sets[name])}
    return build_quotient_of(known, None, _JOINT, goal_marking=goal_marking).quotient.fixpoint()


def marks_goals(checkpoint: Checkpoint | None) -> bool:
    """Whether formulas refer to achieved and missing goals."""
    return checkpoint is not None and checkpoint.network.encoding.goal_marking


def draw_sample(checkpoint: Checkpoint | None, whole: Quotient, settings: Distillation) -> Sample:
    """States spread over V*, for readable mode.

    Parameters
    ----------
    checkpoint : the network, if there is one.
    whole : all known states.
    """
    rows = _spread(whole, settings)
    labelled = LabelledBatch(
        whole.states[whole.chosen[rows]],
        {name: label[rows] for name, label in whole.labels.items()},
        whole.split[rows],
        whole.multiplicity[rows],
    )
    built = build_quotient([labelled], None, whole.options)
    chosen = np.empty(len(rows), dtype=np.int64)
    chosen[built.state_row] = rows
    activations = _activations(checkpoint.network, built.quotient, settings) if checkpoint else None
    return Sample(built.quotient, chosen, activations)


def every_state(checkpoint: Checkpoint, data: DataSet, *, stable: bool = False) -> Sample:
    """All training states, for the other modes.

    Parameters
    ----------
    stable : whether the rows of each layer are stable.
    """
    # Formulas use nullary atoms, even if the network does not.
    quotient = quotient_for(checkpoint.network, {"train": data}, Options(), stable=stable).quotient
    quotient = quotient.fixpoint() if stable else quotient
    return Sample(quotient, np.arange(quotient.n_state_rows), replay(checkpoint.network, quotient))


def _activations(network: Network, sample: Quotient, settings: Distillation) -> Replay:
    """The activations of the network, or of a control."""
    if settings.control == "untrained":
        network = network.untrained(settings.seed)
    found = replay(network, sample)
    if settings.control == "permuted":
        random = np.random.default_rng(settings.seed)
        return Replay(
            {
                site: random.permutation(table) if site.about == "objects" or site.name == POOLED else table
                for site, table in found.sites.items()
            }
        )
    return found


def _spread(whole: Quotient, settings: Distillation) -> Integers:
    """State rows of each split, spread evenly over V*, chosen by their signatures."""
    codes = scramble(signatures(whole.states)[1][whole.chosen] + np.uint64(settings.seed))
    chosen, v_star = [], whole.labels[V_STAR]
    for split, most in ((0, settings.states), (1, int(_VALIDATION * settings.states))):
        rows = np.flatnonzero((whole.split == split) & (v_star != UNSOLVABLE))
        rank = rank_within(v_star[rows], codes[rows])
        chosen.append(np.sort(rows[np.lexsort((codes[rows], rank))[:most]]))
    return np.concatenate(chosen)
