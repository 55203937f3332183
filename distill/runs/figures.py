"""Figures of runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from distill.common import drawing
from distill.explanations import StateFeature
from distill.networks import draw_predictions
from distill.structures import UNSOLVABLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from distill.runs.run import Run

_KINDS = ("numerical", "boolean", "combined", "distance", "product")
_NAMED = 25  # terms whose formulas are shown
_LONGEST = 60  # characters of a formula beside its bar


def draw_weights(panels: Mapping[str, Sequence[tuple[float, StateFeature]]], path: Path) -> None:
    """Draw the weights of value functions, largest first, coloured by the kind of feature.

    Few weights are labelled with their formulas.

    Parameters
    ----------
    panels : for each title the terms of a value function; the title may be empty.
    """
    most = max(map(len, panels.values()), default=0)
    named = most <= _NAMED
    width = 9.0 if named else 1.5 + 0.25 * most
    with drawing(path, len(panels), width=width) as every:
        for axes, (title, terms) in zip(every, panels.items(), strict=True):
            _draw_weights(axes, title, terms, named)


def _draw_weights(axes: "Axes", title: str, terms: Sequence[tuple[float, StateFeature]], named: bool) -> None:
    ordered = sorted(terms, key=lambda term: (-abs(term[0]), term[1].number.order))
    for number, kind in enumerate(_KINDS):
        mine = [(place, weight) for place, (weight, own) in enumerate(ordered) if own.kind == kind]
        if mine:
            places, weights = zip(*mine, strict=True)
            draw = axes.barh if named else axes.bar
            draw(places, weights, color=f"C{number}", label=kind)
    axes.set_title(f"{title}: {len(ordered)} weights" if title else f"{len(ordered)} weights")
    if named:
        axes.set_yticks(range(len(ordered)), [_short(own) for _, own in ordered], fontsize=8)
        axes.invert_yaxis()
        axes.axvline(0, color="0.3", linewidth=0.8)
        axes.set(xlabel="weight")
    else:
        axes.axhline(0, color="0.3", linewidth=0.8)
        axes.set(xlabel="feature", ylabel="weight")
        axes.set_xticks([])
    if ordered:
        axes.legend(frameon=False)


def draw_comparison(runs: Sequence["Run"], path: Path) -> None:
    """Draw box plots of V by V* for runs and their networks: a row for each, and a column for each split.

    A network that several runs explain is drawn once, above the first of them (as thesis Figures 5.2-5.12).
    """
    splits = list(dict.fromkeys(name for run in runs for name in run.splits))
    panels: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    seen: list[Any] = []
    for number, run in enumerate(runs, 1):
        table = run.predictions()
        table = table[table["v_star"] != UNSOLVABLE]
        drawn = {"value": f"{number}: {run.name}"}
        if "network" in table and run.inputs.get("network") not in seen:
            seen.append(run.inputs.get("network"))
            drawn = {"network": f"network of {number}", **drawn}
        for column, title in drawn.items():
            for split in splits:
                mine = table[table["split"] == split]
                panels[f"{title}, {split}"] = mine["v_star"].to_numpy(), mine[column].to_numpy()
    draw_predictions(panels, path, columns=len(splits))


def _short(feature: StateFeature) -> str:
    if feature.number.size > _LONGEST:
        return f"{feature.number.size:,} symbols"
    text = str(feature.number)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
