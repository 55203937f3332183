"""How much of a network the formulas of a run explain: its values, its choices, its layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.figures import drawing
from distill.jobs.disagreement import Choices, Dispute, compare_choices, compare_values, joined
from distill.jobs.explained import BASES, Shares, explained
from distill.jobs.run import Run
from distill.models import Checkpoint
from distill.planning import UNSOLVABLE

Array = NDArray[np.float64]
TRAIN = "train"
NETWORK = "network.safetensors"


@dataclass(frozen=True)
class Agreement:
    """How close a value function is to a network on some states.

    Attributes
    ----------
    states : from which the goal can be reached.
    mae : mean |formulas − network|.
    share : R²: the part of the variance of the network's values that the formulas give; None if none varies.
    within_half : the share of states in which the two differ by less than 0.5.
    choices : how alike their greedy choices are.
    """

    states: int
    mae: float
    share: float | None
    within_half: float
    choices: Choices


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """How much of a network the formulas of a run explain.

    Attributes
    ----------
    run : its name.
    target : what the formulas were fitted to: `optimal` for V*, `model` for the network.
    control : what its trees were fitted to instead of the network's embeddings; `none` if to these.
    splits : how close values and choices are, for each split.
    layers : what the sets of each layer explain of its embeddings.
    disputes : where the two disagree, over all splits: values, then greedy choices.
    """

    run: str
    target: str
    control: str
    splits: Mapping[str, Agreement]
    layers: Sequence[Shares]
    disputes: tuple[Dispute, Dispute]

    @property
    def sentence(self) -> str:
        """What the figures mean, and what they do not."""
        return " ".join([_fitted_to(self.target), self._values_said(), self._layers_said()])

    def _values_said(self) -> str:
        states = sum(one.states for one in self.splits.values())
        near = sum(one.within_half * one.states for one in self.splits.values()) / max(1, states)
        asked = sum(one.choices.states for one in self.splits.values())
        meet = sum(one.choices.meet for one in self.splits.values())
        choices = (
            f"their greedy choices meet in {meet / asked:.2%} of {asked} states"
            if asked
            else ("their greedy choices cannot be compared, as no instance was expanded fully")
        )
        return f"They are within 0.5 of the network in {near:.2%} of {states} states, and {choices}."

    def _layers_said(self) -> str:
        found = []
        for basis, name in ((BASES[0], "the leaf sets of its trees"), (BASES[2], "the formulas in V")):
            gain = self._gain(basis)
            if gain is not None:
                found.append(f"{abs(gain):.2f} {'more' if gain >= 0 else 'less'} by {name}")
        if not found:
            return "Of its layers nothing can be said: there are no sets, or too many for the rows."
        return (
            f"Of a layer's variance they explain, on average, {' and '.join(found)} than the better control "
            "(untrained networks, random sets): at most this difference speaks of what was learned, and "
            + (
                "the trees were fitted to these very embeddings."
                if self.control == "none"
                else f"the trees were fitted to a control ({self.control})."
            )
        )

    def _gain(self, basis: str) -> float | None:
        """How much more is explained than of the better control, on average over the layers."""
        gains = [
            one.trained - max(one.untrained, one.random or 0.0)
            for one in self.layers
            if one.basis == basis and one.trained is not None and one.untrained is not None
        ]
        return float(np.mean(gains)) if gains else None

    def to_json(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "run": self.run,
            "target": self.target,
            "control": self.control,
            "splits": {name: asdict(one) for name, one in self.splits.items()},
            "layers": [one.to_json() for one in self.layers],
            "disputes": [one.to_json() for one in self.disputes],
            "sentence": self.sentence,
        }

    def draw(self, path: Path) -> None:
        """Draw what is explained of each layer, beside the controls."""
        with drawing(path, panels=len(BASES), width=3.2) as panels:
            for axes, basis in zip(panels, BASES, strict=True):
                rows = [one for one in self.layers if one.basis == basis]
                layers = [one.layer for one in rows]
                for name, mark in (("trained", "o-"), ("untrained", "s--"), ("random", "^:")):
                    shares = [np.nan if getattr(one, name) is None else getattr(one, name) for one in rows]
                    axes.plot(layers, shares, mark, label=name, markersize=4)
                axes.set(title=_TITLES[basis], xlabel="layer", ylim=(-0.02, 1.02))
            panels[0].set_ylabel("explained variance (R²)")
            panels[0].legend(frameon=False)


_TITLES = {"layer": "leaf sets of the layer", "so far": "leaf sets so far", "in V": "formulas in V"}


def _fitted_to(target: str) -> str:
    if target == "model":
        return "The formulas were fitted to the network's values."
    return "The formulas were fitted to V*, not to the network."


def faithfulness(
    run: Run,
    *,
    states: int = 500,
    draws: int = 3,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Faithfulness:
    """Compare the formulas of a run with the network that it holds.

    Parameters
    ----------
    states, draws, seed : see `explained`.
    progress : called with the layers done and to do.
    """
    table = run.predictions()
    if "network" not in table or not (run.folder / NETWORK).exists():
        raise InputError(f"{run.name} has no network that its formulas could be compared with.")
    checkpoint = Checkpoint.load(run.folder / NETWORK)
    splits: dict[str, Agreement] = {}
    values, steps = [], []
    for name in run.splits:
        data, mine = run.states(name), table[table["split"] == name]
        if len(mine) != len(data):
            raise InputError(f"{run.folder}: there are {len(mine)} predictions for {len(data)} states.")
        network, formulas = (mine[column].to_numpy(dtype=np.float64) for column in ("network", "value"))
        choices, step = compare_choices(name, data, network, formulas)
        solvable = data.v_star != UNSOLVABLE
        splits[name] = agreement(network[solvable], formulas[solvable], choices)
        values.append(compare_values(name, data, network, formulas))
        steps.append(step)
    first = TRAIN if TRAIN in run.splits else run.splits[0]
    value = run.distilled.value
    layers = explained(
        checkpoint,
        run.states(first),
        run.grown,
        value,
        states=states,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    settings = run.config.get("distillation", {})
    target, control = str(settings.get("target", "optimal")), str(settings.get("control", "none"))
    return Faithfulness(run.name, target, control, splits, layers, (joined(values), joined(steps)))


def agreement(network: Array, formulas: Array, choices: Choices) -> Agreement:
    """How close two values (n_states,) are.

    Examples
    --------
    >>> agreement(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]), Choices(0, 0, 0)).share
    0.5
    """
    if not len(network):
        return Agreement(0, 0.0, None, 0.0, choices)
    error = np.abs(formulas - network)
    total = float(((network - network.mean()) ** 2).sum())
    share = 1.0 - float((error**2).sum()) / total if total > 0 else None
    return Agreement(len(network), float(error.mean()), share, float((error < 0.5).mean()), choices)
