"""Figures of abstract state models."""

from pathlib import Path

import numpy as np

from distill.common import InputError, drawing
from distill.structures import UNSOLVABLE
from distill.symmetry.state_model import StateModel

_MOST = 400  # nodes that can be told apart in a figure


def check_drawable(model: StateModel) -> None:
    """Refuse a model that is too large for a figure."""
    if len(model) > _MOST:
        raise InputError(
            f"{model.instance} has {len(model)} classes of states, and a figure shows at most {_MOST}; "
            "choose a smaller instance, or leave --figure out."
        )


def draw_state_model(model: StateModel, path: Path) -> None:
    """Draw a state model: classes by V*, the goal at the right, with the schemas of transitions as colours.

    Each node shows its number. The initial class has a bold line, goal classes a double one.
    """
    check_drawable(model)
    places = model.layout() * [1.6, 1.0]
    spans = np.ptp(places, axis=0) if len(model) else np.zeros(2)
    names = model.schema_names()
    width, height = np.maximum(spans * 0.45 + 1.6, [4.0, 2.2])
    with drawing(path, width=float(width), height=float(height)) as [axes]:
        for (source, target), schemas in zip(model.transitions.tolist(), model.schemas, strict=True):
            for number, name in enumerate(schemas):
                bend = 0.14 + 0.12 * number
                arrow = {
                    "arrowstyle": "-|>",
                    "color": f"C{names.index(name) % 10}",
                    "connectionstyle": f"arc3,rad={bend}",
                    "shrinkA": 9,
                    "shrinkB": 9,
                    "linewidth": 0.9,
                }
                if source != target:
                    axes.annotate("", places[target], places[source], arrowprops=arrow)
        for number, name in enumerate(names):
            axes.plot([], [], color=f"C{number % 10}", label=name)
        for node, (x, y) in enumerate(places):
            goal, thick = model.v_star[node] == 0, 1.8 if node == 0 else 0.7
            axes.plot(x, y, "o", ms=15, mfc="white", mec="black", mew=thick, zorder=3)
            if goal:
                axes.plot(x, y, "o", ms=12, mfc="white", mec="black", mew=0.7, zorder=4)
            axes.text(x, y, str(node), ha="center", va="center", fontsize=7, zorder=5)
        columns = sorted({(float(x), int(v)) for (x, _), v in zip(places, model.v_star, strict=True)})
        axes.set_xticks([x for x, _ in columns], ["∞" if v == UNSOLVABLE else str(v) for _, v in columns])
        axes.set(xlabel="V*", yticks=[])
        axes.set_title(f"{model.instance}: {len(model.state)} states, {len(model)} classes", pad=20)
        axes.grid(visible=False)
        axes.margins(0.5 / max(1.0, float(spans[0])), 0.7 / max(1.0, float(spans[1])))
        if names:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, borderpad=0)
