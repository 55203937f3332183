"""Figures of labelled states."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from distill.common import drawing
from distill.structures import GOAL, GOAL_ABSENT, UNSOLVABLE, DataSet


def draw_labels(sets: Mapping[str, DataSet], path: Path) -> None:
    """Draw how many states of each set have each V*; unsolvable states are at the right, marked ∞."""
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


def draw_states(data: DataSet, states: Sequence[int], path: Path) -> None:
    """Draw states side by side: objects on a circle, binary atoms as arrows, goals dashed.

    Unary atoms are written at the object. Types and constants are not drawn.
    """
    with drawing(path, len(states), width=5.0, height=5.0) as panels:
        for axes, state in zip(panels, states, strict=True):
            _draw_state(axes, data, state)


def _draw_state(axes: Any, data: DataSet, state: int) -> None:
    names = data.instances[data.state_instance[state]]["objects"]
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    notes: dict[int, list[str]] = {number: [] for number in range(len(names))}
    types = {predicate.name for predicate in data.vocabulary if predicate.role in ("type", "constant")}
    relations = [predicate.name for predicate in data.vocabulary if predicate.arity == 2]
    for name, arguments in data.structures([state]).decode(0):
        objects = [int(str(argument)) for argument in arguments]
        if len(objects) == 1 and name not in types:
            notes[objects[0]].append(name)
        elif len(objects) == 2:
            is_goal = name.endswith((GOAL, GOAL_ABSENT))
            base = name.removesuffix(GOAL_ABSENT).removesuffix(GOAL)
            arrow = {
                "arrowstyle": "-|>",
                "color": f"C{relations.index(base)}",
                "linestyle": "--" if is_goal else "-",
                # Goals bend the other way, so that an atom and its goal do not cover each other.
                "connectionstyle": f"arc3,rad={-0.25 if is_goal else 0.12}",
                "shrinkA": 14,
                "shrinkB": 14,
            }
            axes.annotate("", places[objects[1]], places[objects[0]], arrowprops=arrow)
            axes.plot([], [], arrow["linestyle"], color=arrow["color"], label=name)
    for number, name in enumerate(names):
        text = "\n".join([name, *notes[number]])
        axes.text(*places[number], text, ha="center", va="center", fontsize=8, bbox={"fc": "w", "ec": "0.6"})
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    if handles:
        axes.legend(handles.values(), handles.keys(), loc="upper left", fontsize=8, frameon=False)
    value = int(data.v_star[state])
    axes.set(
        title=f"state {state}: V* = {'∞' if value == UNSOLVABLE else value}",
        xlim=(-1.5, 1.5),
        ylim=(-1.5, 1.5),
    )
    axes.set_axis_off()
