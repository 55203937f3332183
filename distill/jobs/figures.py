"""Figures of runs."""

from collections.abc import Sequence
from pathlib import Path

from distill.figures import drawing
from distill.trees import StateFeature

_KINDS = ("numerical", "boolean", "combined")


def draw_weights(terms: Sequence[tuple[float, StateFeature]], path: Path) -> None:
    """Draw the weights of a value function, largest first, by the kind of their feature."""
    with drawing(path, width=max(4.0, 1.5 + 0.25 * len(terms))) as [axes]:
        ordered = sorted(terms, key=lambda term: -abs(term[0]))
        for number, kind in enumerate(_KINDS):
            mine = [
                (place, weight) for place, (weight, feature) in enumerate(ordered) if feature.kind == kind
            ]
            if mine:
                places, weights = zip(*mine, strict=True)
                axes.bar(places, weights, color=f"C{number}", label=kind)
        axes.axhline(0, color="0.3", linewidth=0.8)
        axes.set(title=f"{len(ordered)} weights", xlabel="feature", ylabel="weight")
        axes.set_xticks([])
        if ordered:
            axes.legend(frameon=False)
