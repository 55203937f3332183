"""Figures of networks: learning curves and predictions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from distill.common import drawing
from distill.networks.probing import ProbeRow
from distill.networks.training import Epoch

_LONGEST = 40  # characters of the name of a feature


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


def draw_probes(rows: Sequence[ProbeRow], path: Path) -> None:
    """Draw the scores of probes, features by places, for the network and for the untrained one.

    Scores below 0 are drawn as 0. A feature that is constant on the held-out states has no score.
    """
    features = list(dict.fromkeys(row.feature for row in rows))
    places = list(dict.fromkeys(row.place for row in rows))
    cell = {(features.index(row.feature), places.index(row.place)): row for row in rows}
    width, height = 2.5 + 0.28 * len(places), 1.6 + 0.22 * len(features)
    with drawing(path, 2, width=width, height=height) as panels:
        for axes, name in zip(panels, ("trained", "untrained"), strict=True):
            table = np.full((len(features), len(places)), np.nan)
            for spot, row in cell.items():
                share = getattr(row, name).share
                table[spot] = np.nan if share is None else share
            image = axes.imshow(table, vmin=0, vmax=1, cmap="viridis", aspect="auto")
            axes.set_xticks(range(len(places)), places, rotation=90)
            axes.set_yticks(range(len(features)), [_short(feature) for feature in features])
            axes.grid(visible=False)
            axes.set_title(f"{name} network")
        axes.figure.colorbar(image, ax=panels[-1], label="score of the probe")


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
