"""Greedy choices by the value function, the network and V* in a sample of states.

A run does not store transitions, so they are generated again, in states of all V*.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from distill.evaluation.inspection import Inspection
from distill.explanations import ValueFunction
from distill.structures import DataSet, best_successors

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
MOST_INSTANCES = 12  # in a sample, since reading an instance takes time
_CHOSEN_BY = ("v_star", "value", "network")
COLUMNS = {
    "state": np.int64,
    "v_star": np.int64,
    "by_v_star": str,
    "by_value": str,
    "by_network": str,
    "value_wrong": bool,
    "network_wrong": bool,
    "apart": bool,
}


def sample_by_v_star(
    v_star: ArrayLike, instance: ArrayLike, most: int, most_instances: int = MOST_INSTANCES
) -> Numbers:
    """Sample solvable states other than goals, balanced over V*.

    Parameters
    ----------
    v_star, instance : (n_states,) V* and the number of the instance of each state.
    most : the largest number of states; at least one of each V* is taken.
    most_instances : the largest number of instances, exceeded only where a V* occurs in no other.

    Examples
    --------
    >>> sample_by_v_star([0, 1, 1, 2, 2, 2, -1], [0, 0, 0, 0, 1, 1, 1], 4)
    array([1, 2, 3, 5])
    """
    levels, owners = np.asarray(v_star), np.asarray(instance)
    values = np.unique(levels[levels > 0])
    each = max(1, most // max(len(values), 1))
    instances = _evenly(np.unique(owners[levels > 0]), most_instances)
    samples = [np.zeros(0, dtype=np.int64)]
    for value in values:
        own = np.flatnonzero(levels == value)
        here = own[np.isin(owners[own], instances)]
        if not len(here):
            here = own[owners[own] == np.bincount(owners[own]).argmax()]
        samples.append(_evenly(here, each))
    return np.sort(np.concatenate(samples))


def _evenly(numbers: Numbers, most: int) -> Numbers:
    """At most `most` of the numbers, evenly spaced."""
    return numbers[np.linspace(0, len(numbers) - 1, min(most, len(numbers))).astype(np.int64)]


def tabulate_choices(
    data: DataSet, numbers: Sequence[int], distilled: ValueFunction, network: Array | None = None
) -> pd.DataFrame:
    """The greedy choices by V*, by the value function and by the network in states of a set.

    A choice is the action to the successor of least value; ties are broken alphabetically. It is wrong if the
    successor does not have the least V*. The network's choice is apart if its successor does not have the
    least value. States with a successor outside the set are left out.

    Parameters
    ----------
    network : (n_states,) the network's values; without it, its choice is empty and never wrong.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[0], 100)
    >>> found = tabulate_choices(data, range(len(data)), ValueFunction(parse("0 - #holding"), ()))
    >>> found.columns.tolist() == list(COLUMNS), bool(found["apart"].any())
    (True, False)
    """
    chosen = np.asarray(numbers, dtype=np.int64)
    rows: list[tuple[object, ...]] = []
    for instance in np.unique(data.state_instance[chosen]).tolist():
        own = chosen[data.state_instance[chosen] == instance].tolist()
        steps = Inspection(data, instance, distilled, network).steps(own)
        steps = steps[~steps["stays"].astype(bool)]
        best = {f"best_{name}": best_successors(steps[name], steps["state"]) for name in _CHOSEN_BY}
        for state, table in steps.assign(**best).groupby("state", sort=True):
            if (table["after"] >= 0).all():
                number = int(str(state))
                rows.append((number, int(data.v_star[number]), *_chosen(table, network is not None)))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _chosen(table: pd.DataFrame, network: bool) -> tuple[str, str, str, bool, bool, bool]:
    """The three choices in a state, and how they differ."""
    best = {name: table[f"best_{name}"].to_numpy() for name in _CHOSEN_BY}  # none if no value is known
    first = {name: int(np.argmax(good)) for name, good in best.items()}
    action = table["action"].tolist()
    return (
        action[first["v_star"]],
        action[first["value"]],
        action[first["network"]] if network else "",
        not best["v_star"][first["value"]],
        network and not best["v_star"][first["network"]],
        network and not best["value"][first["network"]],
    )


def choices_by_v_star(choices: pd.DataFrame) -> pd.DataFrame:
    """The number of states, and of differing choices, for each V*.

    Examples
    --------
    >>> rows = [(4, 1, "a", "a", "b", False, True, True), (7, 1, "a", "a", "a", False, False, False)]
    >>> choices_by_v_star(pd.DataFrame(rows, columns=list(COLUMNS))).to_numpy().tolist()
    [[1, 2, 0, 1, 1]]
    """
    sums = {name: (name, "sum") for name in ("value_wrong", "network_wrong", "apart")}
    return choices.groupby("v_star").agg(states=("state", "size"), **sums).reset_index()
