"""What tests of exports share: values by our own evaluation, changed formulas, planning states."""

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from distill import logic as fo
from distill.logic import Evaluator
from distill.structures import Structures
from tests.logic.naive import comparisons, numbers, truths

formulas = st.one_of(truths, comparisons, numbers)


def values(batch: Structures, formula: fo.Node) -> list[Any]:
    """For each state: the objects that have it, whether the state has it, or its number."""
    evaluator = Evaluator(batch)
    if isinstance(formula, fo.Number):
        return evaluator.number(formula).tolist()
    holds = evaluator.holds(formula)
    if formula.of_state:
        return holds.tolist()
    bounds = itertools.pairwise(batch.object_offsets)
    return [np.flatnonzero(holds[begin:end]).tolist() for begin, end in bounds]


def marked(batch: Structures) -> Structures:
    """Goals told apart by whether they are achieved."""
    atoms = {name: set(map(tuple, rows.tolist())) for name, rows in batch.relations.items()}
    goal = atoms.pop("on_G")
    split = {"on_G,T": sorted(goal & atoms["on"]), "on_G,F": sorted(goal - atoms["on"])}
    relations = {name: rows for name, rows in batch.relations.items() if name != "on_G"} | split
    return Structures(batch.vocabulary.marked(), len(batch), batch.state_of_object, relations)


def rewritten(formula: fo.Node, change: Any) -> Any:
    """The formula with other names or thresholds."""
    return fo.from_json([change(row) for row in fo.to_json(formula)])


def halved(row: list[Any]) -> list[Any]:
    """One of the two halves instead of a goal, depending on the direction."""
    return ["role", f"on_G,{'TF'[row[2]]}", *row[2:]] if row[:2] == ["role", "on_G"] else row


def simple(row: list[Any]) -> list[Any]:
    """Without thresholds and nullary predicates."""
    if row[0] in ("modal", "compare"):
        return [*row[:-1], 0]
    return ["atom", "clear"] if row == ["atom", "handempty"] else row


FORMULAS = {
    "blocks": [
        "<on^-1+>clear",
        "<on*>(ontable & <on_G>top)",
        "<on_G \\ on>top",
        "<on & on_G>~clear",
        "<(on | on_G)+>holding",
        "~<on_G^-1>top & clear",
        "<~(on | id)>clear",
        "#<on_G,T>top",
        "#<on+>~clear",
        "dist(clear, on, ontable)",
        "dist(holding, on_G | on_G^-1, clear)",
        "[#<on_G,F>top > 0]",
        "~[#holding > 0] | [#(clear & ontable) > 0]",
        "[#handempty > 0]",
    ],
    "gripper": [
        "<at>at-robby",
        "<at_G>at-robby & ~<at>at-robby",
        "<carry>~free",
        "#<at_G,F>top",
        "#<carry^-1 | at>top",
        "dist(at-robby, at^-1 | at_G, <at_G,F^-1>top)",
        "~[#<at_G \\ at>top > 0]",
    ],
}


def planning_states(name: str, training_set: Any) -> Structures:
    data = training_set(name)
    chosen = [*np.linspace(0, len(data) - 1, 40).astype(int), *np.flatnonzero(data.v_star == 0)[:5]]
    return data.structures(chosen, goal_marking=True)
