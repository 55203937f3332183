"""Faithfulness: how much of the values, choices and layers of a network the formulas of a run explain."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError, drawing
from distill.distillation import Target, target_of
from distill.evaluation import (
    BASES,
    ChoiceAgreement,
    Disagreement,
    LayerR2,
    compare_choices,
    compare_values,
    measure_layer_r2,
    merge_disagreements,
)
from distill.networks import Checkpoint
from distill.runs.run import Run
from distill.structures import UNSOLVABLE

Array = NDArray[np.float64]
TRAIN = "train"
NETWORK = "network.safetensors"


@dataclass(frozen=True)
class Agreement:
    """The agreement of a value function with a network on some states.

    Attributes
    ----------
    states : the number of solvable states.
    mae : mean |formulas − network|.
    share : R² of the network's values explained by the formulas; None if they are constant.
    within_half : the share of states with a difference below 0.5.
    choices : the agreement of the greedy choices.
    """

    states: int
    mae: float
    share: float | None
    within_half: float
    choices: ChoiceAgreement


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """How much of a network the formulas of a run explain.

    Attributes
    ----------
    run : the name of the run.
    target : the target of the formulas.
    control : the control that replaced the network's embeddings; `none` without one.
    splits : the agreement on each split.
    layers : the variance of the embeddings of each layer that its sets explain.
    disputes : the disagreements over all splits: values, then greedy choices.
    """

    run: str
    target: Target
    control: str
    splits: Mapping[str, Agreement]
    layers: Sequence[LayerR2]
    disputes: tuple[Disagreement, Disagreement]

    @property
    def sentence(self) -> str:
        """The figures in words, with their limits."""
        return " ".join([self.target.sentence, self._values_sentence(), self._layers_sentence()])

    def _values_sentence(self) -> str:
        states = sum(one.states for one in self.splits.values())
        near = sum(one.within_half * one.states for one in self.splits.values()) / max(1, states)
        compared = sum(one.choices.states for one in self.splits.values())
        meet = sum(one.choices.meet for one in self.splits.values())
        choices = "their greedy choices cannot be compared, as no instance was expanded fully"
        if compared:
            choices = f"their greedy choices meet in {meet / compared:.2%} of {compared} states"
        return f"They are within 0.5 of the network in {near:.2%} of {states} states, and {choices}."

    def _layers_sentence(self) -> str:
        found = []
        for basis, name in ((BASES[0], "the leaf sets of its trees"), (BASES[2], "the formulas in V")):
            gain = self._gain(basis)
            if gain is not None:
                found.append(f"{abs(gain):.2f} {'more' if gain >= 0 else 'less'} by {name}")
        if not found:
            return "Of its layers nothing can be said: there are no sets, or too many for the rows."
        fitted = "these very embeddings" if self.control == "none" else f"a control ({self.control})"
        return (
            f"Of a layer's variance they explain, on average, {' and '.join(found)} than the better control "
            "(untrained networks, random sets): at most this difference speaks of what was learned, and "
            f"the trees were fitted to {fitted}."
        )

    def _gain(self, basis: str) -> float | None:
        """The explained variance minus that of the better control, on average over the layers."""
        gains = [
            one.trained - max(one.untrained, one.random or 0.0)
            for one in self.layers
            if one.basis == basis and one.trained is not None and one.untrained is not None
        ]
        return float(np.mean(gains)) if gains else None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "run": self.run,
            "target": self.target.name,
            "control": self.control,
            "splits": {name: asdict(one) for name, one in self.splits.items()},
            "layers": [one.to_json() for one in self.layers],
            "disputes": [one.to_json() for one in self.disputes],
            "sentence": self.sentence,
        }

    def draw(self, path: Path) -> None:
        """Draw the explained variance of each layer, beside the controls."""
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


def measure_faithfulness(
    run: Run,
    *,
    states: int = 500,
    draws: int = 3,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Faithfulness:
    """Compare the formulas of a run with its network.

    Parameters
    ----------
    states, draws, seed : see `measure_layer_r2`.
    progress : called with the number of finished layers and of all layers.
    """
    table = run.predictions()
    if "network" not in table or not (run.folder / NETWORK).exists():
        raise InputError(f"{run.name} has no network to compare its formulas with.")
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
    value = run.value_function.value
    sampled = {"states": states, "draws": draws, "seed": seed}
    layers = measure_layer_r2(checkpoint, run.states(first), run.trees, value, **sampled, progress=progress)
    settings = run.config.get("distillation", {})
    target, control = target_of(run.config), str(settings.get("control", "none"))
    return Faithfulness(
        run.name, target, control, splits, layers, (merge_disagreements(values), merge_disagreements(steps))
    )


def agreement(network: Array, formulas: Array, choices: ChoiceAgreement) -> Agreement:
    """The agreement of two arrays of values (n_states,).

    Examples
    --------
    >>> agreement(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]), ChoiceAgreement(0, 0, 0)).share
    0.5
    """
    if not len(network):
        return Agreement(0, 0.0, None, 0.0, choices)
    error = np.abs(formulas - network)
    total = float(((network - network.mean()) ** 2).sum())
    share = 1.0 - float((error**2).sum()) / total if total > 0 else None
    return Agreement(len(network), float(error.mean()), share, float((error < 0.5).mean()), choices)
