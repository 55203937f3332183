"""Tables about one state: terms, successors, a plan, and where the parts of a formula hold."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from distill.jobs.inspection import Inspection, State, Successor, TermValue, best, subformulas
from distill.logic import Constant, Evaluator, Indicator, Node, Number, Truth
from distill.planning import UNSOLVABLE

TICK, CHOSEN = "✓", "▶"
MOST_PARTS = 30  # of a formula in a table
LARGEST = 300  # symbols of a formula whose parts are told


def shown_v_star(v_star: int | None) -> float | None:
    """V* as a number that sorts: infinite without a way to the goal."""
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


def successors_table(successors: Sequence[Successor], *, network: bool) -> pd.DataFrame:
    """All actions with what is known of the states after them; best ones by the distilled value first.

    Parameters
    ----------
    network : whether there is a network.
    """
    moving = [not successor.stays for successor in successors]
    columns: dict[str, Sequence[float | None]] = {
        "V*": [shown_v_star(successor.state.v_star) for successor in successors],
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
    """The greedy choice, and those as good; a tie goes to the first action, as in `execute`."""
    least = best(values, moving)
    first = least.index(True) if any(least) else -1
    return [CHOSEN if place == first else TICK if good else "" for place, good in enumerate(least)]


def plan_table(inspection: Inspection, actions: Sequence[str], states: Sequence[State]) -> pd.DataFrame:
    """The states along a plan: the action that leads there, V*, the network's value and the distilled one."""
    return pd.DataFrame(
        {
            "step": range(len(states)),
            "action": ["", *actions],
            "V*": pd.array([shown_v_star(state.v_star) for state in states], dtype="Float64"),
            "network": pd.array([state.network for state in states], dtype="Float64"),
            "value": [inspection.value(state) for state in states],
        }
    )


def truth_table(
    formula: Node, state: State, names: Sequence[str], write: Callable[[Node], str]
) -> pd.DataFrame:
    """For each object, which of the formula's parts hold of it; small parts first."""
    evaluator = Evaluator(state.structure)
    columns: dict[str, object] = {"object": list(names)}
    for part in subformulas(formula)[-MOST_PARTS:]:
        text = write(part)
        # Two parts may read the same in words.
        columns[f"{text} ({part})" if text in columns else text] = evaluator.holds(part)
    return pd.DataFrame(columns)


def numbers_table(formula: Node, state: State, write: Callable[[Node], str]) -> pd.DataFrame:
    """The parts of a formula that are about the whole state, with what they are in it."""
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
    """How a greedy plan ends, and how long it is compared with the shortest."""
    if not solved:
        reason = f": {note}" if note else ""
        if v_star == UNSOLVABLE:
            return f"The greedy policy does not reach the goal, and no policy can: there is no way{reason}."
        return f"The greedy policy does not reach the goal{reason}; V* is {v_star}."
    if not steps:
        return "The goal holds here; there is nothing to do."
    told = f"The greedy plan reaches the goal in {steps} step{'s' if steps > 1 else ''}"
    if v_star is None or v_star == UNSOLVABLE:
        return f"{told}."
    if steps == v_star:
        return f"{told}; V* is {v_star}, so no plan is shorter."
    return f"{told}; V* is {v_star}, so it takes {steps - v_star} more than it has to."
