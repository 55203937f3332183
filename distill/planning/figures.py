"""Figures of labelled states."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from distill.figures import drawing
from distill.planning.dataset import UNSOLVABLE, DataSet


def draw_labels(sets: Mapping[str, DataSet], path: Path) -> None:
    """Draw how many states of each set have each V*; unsolvable ones stand at the right, marked ∞."""
    top = max(int(data.v_star.max(initial=0)) for data in sets.values())
    endless = any((data.v_star == UNSOLVABLE).any() for data in sets.values())
    with drawing(path, len(sets)) as panels:
        for axes, (name, data) in zip(panels, sets.items(), strict=True):
            place = np.where(data.v_star == UNSOLVABLE, top + 1, data.v_star)
            counts = np.bincount(place, minlength=top + 1 + endless)
            axes.bar(np.arange(len(counts)), counts, width=0.9)
            ticks = list(range(0, top + 1, max(1, top // 8)))
            axes.set_xticks([*ticks, top + 1] if endless else ticks)
            axes.set_xticklabels([*map(str, ticks), "∞"] if endless else [*map(str, ticks)])
            axes.set(title=f"{name}: {len(data)} states kept", xlabel="V*", ylabel="states")
            axes.grid(visible=False, axis="x")
