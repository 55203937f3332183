"""Greedy choices in some states: where the value function, the network and V* choose differently.

A run does not keep which state follows which, so this is found out by planning, in states spread over all V*.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from distill.jobs.distilled import Distilled
from distill.jobs.inspection import EQUAL, Inspection
from distill.planning import DataSet

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
MOST_INSTANCES = 12  # whose states are looked at, as reading an instance takes time
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


def spread_states(
    v_star: ArrayLike, instance: ArrayLike, most: int, most_instances: int = MOST_INSTANCES
) -> Numbers:
    """Some states from which the goal is still to be reached, as many of each V* as there can be.

    Parameters
    ----------
    v_star, instance : (n_states,) V* and the number of the instance of each state.
    most : so many states at most, but at least one of each V*.
    most_instances : they are from so many instances, from more only where a V* occurs in no other.

    Examples
    --------
    >>> spread_states([0, 1, 1, 2, 2, 2, -1], [0, 0, 0, 0, 1, 1, 1], 4)
    array([1, 2, 3, 5])
    """
    levels, owners = np.asarray(v_star), np.asarray(instance)
    values = np.unique(levels[levels > 0])
    each = max(1, most // max(len(values), 1))
    homes = _evenly(np.unique(owners[levels > 0]), most_instances)
    found = [np.zeros(0, dtype=np.int64)]
    for value in values:
        own = np.flatnonzero(levels == value)
        here = own[np.isin(owners[own], homes)]
        if not len(here):
            here = own[owners[own] == np.bincount(owners[own]).argmax()]
        found.append(_evenly(here, each))
    return np.sort(np.concatenate(found))


def _evenly(numbers: Numbers, most: int) -> Numbers:
    """So many of them at most, from all over."""
    return numbers[np.linspace(0, len(numbers) - 1, min(most, len(numbers))).astype(np.int64)]


def choices(
    data: DataSet, numbers: Sequence[int], distilled: Distilled, network: Array | None = None
) -> pd.DataFrame:
    """What is chosen in states of a set: by V*, by the value function and by the network.

    A choice is the action to the state of least value; of equal ones the first in alphabetical order. It is
    wrong if its state is not one of least V*, and the network's is apart if it is not one of least value.
    States with an action to a state that is not in the set are left out.

    Parameters
    ----------
    network : (n_states,) the network's values; without it, its choice is empty and never wrong.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[0], 100)
    >>> found = choices(data, range(len(data)), Distilled(parse("0 - #holding"), ()))
    >>> found.columns.tolist() == list(COLUMNS), bool(found["apart"].any())
    (True, False)
    """
    wanted = np.asarray(numbers, dtype=np.int64)
    rows: list[tuple[object, ...]] = []
    for instance in np.unique(data.state_instance[wanted]).tolist():
        own = wanted[data.state_instance[wanted] == instance].tolist()
        steps = Inspection(data, instance, distilled, network).steps(own)
        for state, table in steps[~steps["stays"].astype(bool)].groupby("state", sort=True):
            if (table["after"] >= 0).all():
                number = int(str(state))
                rows.append((number, int(data.v_star[number]), *_chosen(table, network is not None)))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _chosen(table: pd.DataFrame, network: bool) -> tuple[str, str, str, bool, bool, bool]:
    """The three choices in a state, and how they differ."""
    best = {name: _least(table[name].to_numpy(dtype=np.float64)) for name in ("v_star", "value", "network")}
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


def _least(values: Array) -> NDArray[np.bool_]:
    least: NDArray[np.bool_] = values <= np.min(values) + EQUAL  # nothing is, if nothing is known
    return least


def choices_by_v_star(found: pd.DataFrame) -> pd.DataFrame:
    """For each V* how many states were looked at, and in how many of them which choices differ.

    Examples
    --------
    >>> rows = [(4, 1, "a", "a", "b", False, True, True), (7, 1, "a", "a", "a", False, False, False)]
    >>> choices_by_v_star(pd.DataFrame(rows, columns=list(COLUMNS))).to_numpy().tolist()
    [[1, 2, 0, 1, 1]]
    """
    counted = found.groupby("v_star").agg(
        states=("state", "size"),
        value_wrong=("value_wrong", "sum"),
        network_wrong=("network_wrong", "sum"),
        apart=("apart", "sum"),
    )
    return counted.reset_index()
