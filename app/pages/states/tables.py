"""Tables about one state: terms, successors, a plan, and the parts of a formula."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from distill.evaluation import ApplicableAction, Inspection, InstanceState, TermValue, mark_best, subformulas
from distill.logic import Constant, Evaluator, Indicator, Node, Number, Truth
from distill.structures import UNSOLVABLE

TICK, CHOSEN = "✓", "▶"
MOST_PARTS = 30  # of a formula in a table


def sortable_v_star(v_star: int | None) -> float | None:
    """V* as a number for sorting: infinite for dead ends."""
    return np.inf if v_star == UNSOLVABLE else v_star


def terms_table(terms: Sequence[TermValue], write: Callable[[Node], str]) -> pd.DataFrame:
    """Weight, value, contribution (their product) and formula of each term."""
    return pd.DataFrame(
        {
            "weight": [term.weight for term in terms],
            "value": [term.value for term in terms],
            "contribution": [term.contribution for term in terms],
            "feature": [write(term.feature) for term in terms],
        }
    )


def successors_table(successors: Sequence[ApplicableAction], *, network: bool) -> pd.DataFrame:
    """All actions with the values of their successors, sorted by the distilled value.

    Parameters
    ----------
    network : whether there is a network.
    """
    moving = [not successor.stays for successor in successors]
    columns: dict[str, Sequence[float | None]] = {
        "V*": [sortable_v_star(successor.state.v_star) for successor in successors],
        "network": [successor.state.network for successor in successors],
        "value": [successor.value for successor in successors],
    }
    if not network:
        del columns["network"]
    table = pd.DataFrame(
        {"action": [successor.action for successor in successors]}
        | {name: pd.array(values, dtype="Float64") for name, values in columns.items()}
        | {f"by {name}": _marks(values, moving) for name, values in columns.items()}
        | {"state": pd.array([successor.state.number for successor in successors], dtype="Int64")}
    )
    return table.sort_values("value", kind="stable", ignore_index=True)


def _marks(values: Sequence[float | None], moving: Sequence[bool]) -> list[str]:
    """Marks of the greedy successor and equally good ones; ties go to the first action, as in `execute`."""
    least = mark_best(values, moving)
    first = least.index(True) if any(least) else -1
    return [CHOSEN if place == first else TICK if good else "" for place, good in enumerate(least)]


def plan_table(
    inspection: Inspection, actions: Sequence[str], states: Sequence[InstanceState]
) -> pd.DataFrame:
    """The states of a plan: the action before, V*, the network's value and the distilled value."""
    return pd.DataFrame(
        {
            "step": range(len(states)),
            "action": ["", *actions],
            "V*": pd.array([sortable_v_star(state.v_star) for state in states], dtype="Float64"),
            "network": pd.array([state.network for state in states], dtype="Float64"),
            "value": [inspection.value(state) for state in states],
        }
    )


def truth_table(
    formula: Node, state: InstanceState, names: Sequence[str], write: Callable[[Node], str]
) -> pd.DataFrame:
    """For each object, whether each part of the formula holds of it; small parts first."""
    evaluator = Evaluator(state.structure)
    columns: dict[str, object] = {"object": list(names)}
    for part in subformulas(formula)[-MOST_PARTS:]:
        text = write(part)
        # Two parts may have the same text in English.
        columns[f"{text} ({part})" if text in columns else text] = evaluator.holds(part)
    return pd.DataFrame(columns)


def numbers_table(formula: Node, state: InstanceState, write: Callable[[Node], str]) -> pd.DataFrame:
    """The parts of a formula about the whole state, with their values."""
    evaluator = Evaluator(state.structure)
    parts = [
        node
        for node in formula.walk()
        if (isinstance(node, Number) and not isinstance(node, Indicator | Constant))
        or (isinstance(node, Truth) and node.of_state)
    ]
    found = [
        (evaluator.number(part) if isinstance(part, Number) else evaluator.holds(part))[0] for part in parts
    ]
    texts = [("yes" if one else "no") if isinstance(one, np.bool_) else f"{one:.6g}" for one in found]
    return pd.DataFrame({"part": [write(part) for part in parts], "here": texts})


def plan_verdict(solved: bool, steps: int, note: str, v_star: int | None) -> str:
    """The result of a greedy plan, and its length compared with V*."""
    if not solved:
        reason = f": {note}" if note else ""
        if v_star == UNSOLVABLE:
            return f"The greedy policy does not reach the goal, and no policy can: a dead end{reason}."
        return f"The greedy policy does not reach the goal{reason}; V* is {v_star}."
    if not steps:
        return "The goal holds in this state."
    text = f"The greedy plan reaches the goal in {steps} step{'s' if steps > 1 else ''}"
    if v_star is None or v_star == UNSOLVABLE:
        return f"{text}."
    if steps == v_star:
        return f"{text}; V* is {v_star}, so no plan is shorter."
    return f"{text}; V* is {v_star}, so {steps - v_star} more than necessary."
