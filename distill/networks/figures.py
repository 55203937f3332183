"""Figures of networks: learning curves and predictions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from distill.common import drawing
from distill.networks.training import Epoch


def draw_learning(histories: Mapping[str, Sequence[Epoch]], path: Path) -> None:
    """Draw training loss and validation error by epoch, one line for each network."""
    with drawing(path, 2) as (left, right):
        for name, history in histories.items():
            epochs = [epoch.number for epoch in history]
            left.plot(epochs, [epoch.loss for epoch in history], label=name)
            right.plot(epochs, [epoch.validation_mae for epoch in history], label=name)
        left.set(title="training loss", xlabel="epoch", yscale="log")
        right.set(title="validation |V − V*|", xlabel="epoch", yscale="log")
        right.legend(frameon=False)


def draw_predictions(
    splits: Mapping[str, tuple[ArrayLike, ArrayLike]], path: Path, *, columns: int | None = None
) -> None:
    """Draw box plots of V by V*, one panel for each split (as thesis Figure 5.2).

    Parameters
    ----------
    splits : for each split V* and V of its states, (n_states,) each.
    columns : the panels of a row; all are side by side if left out.
    """
    with drawing(path, len(splits), width=5.0, columns=columns) as panels:
        for axes, (name, (v_star, value)) in zip(panels, splits.items(), strict=True):
            labels, predicted = np.asarray(v_star), np.asarray(value)
            present = np.unique(labels)
            axes.plot(present, present, color="0.8", zorder=0)
            axes.boxplot(
                [predicted[labels == one] for one in present],
                positions=present,
                widths=0.6,
                manage_ticks=False,
                flierprops={"marker": "o", "markersize": 2},
                medianprops={"color": "C0"},
            )
            axes.set(title=f"{name}: {len(labels)} states", xlabel="V*", ylabel="V")
