"""Tables of errors by V*, by the number of objects and by state.

All functions take the result of `labelled_states`, so that the value function and the network are compared
with V* in the same way. The tables are small enough for a browser, whatever the number of states.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from distill.structures import EQUAL

HALF = 0.5  # a prediction with a smaller error is right when rounded
EXACT = EQUAL  # the tolerance for equal values; fractional weights cause rounding errors
_REACH = 1.5  # the length of whiskers in heights of the box
_POINTS = 12  # drawn outliers of a box


def labelled_states(table: pd.DataFrame, splits: Sequence[str], of: str) -> pd.DataFrame:
    """The states with a V* and a prediction: split, instance, state, v_star, v, difference, error.

    Parameters
    ----------
    table : predictions of a run.
    splits : the splits to keep, in their order.
    of : the column that is compared with V*: `value` or `network`.

    Examples
    --------
    >>> known = {"split": ["a", "a"], "instance": 0, "state": [0, 1], "v_star": [-1, 2]}
    >>> table = pd.DataFrame({**known, "value": 4})
    >>> labelled_states(table, ["a"], "value").to_dict("records")
    [{'split': 'a', 'instance': 0, 'state': 1, 'v_star': 2, 'v': 4.0, 'difference': 2.0, 'error': 2.0}]
    """
    values = table[of].to_numpy(dtype=float)
    v_star = table["v_star"].to_numpy()
    kept = (v_star >= 0) & np.isfinite(values) & table["split"].isin(splits).to_numpy()
    difference = (values - v_star)[kept]
    return pd.DataFrame(
        {
            "split": pd.Categorical(table["split"].to_numpy()[kept], categories=list(splits)),
            "instance": table["instance"].to_numpy()[kept],
            "state": table["state"].to_numpy()[kept],
            "v_star": v_star[kept],
            "v": values[kept],
            "difference": difference,
            "error": np.abs(difference),
        }
    )


def boxes(states: pd.DataFrame) -> pd.DataFrame:
    """For each split and V* the quartiles of the predictions, the whiskers, and the number of outliers.

    Examples
    --------
    >>> known = {"split": "a", "instance": 0, "state": range(5), "v_star": 2}
    >>> table = pd.DataFrame({**known, "value": [1, 2, 2, 3, 9]})
    >>> boxes(labelled_states(table, ["a"], "value")).iloc[0].to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'split': 'a', 'v_star': 2, 'states': 5, 'least': 1.0, 'low': 1.0, 'q1': 2.0, 'median': 2.0,
     'q3': 3.0, 'high': 3.0, 'most': 9.0, 'outliers': 1}
    """
    keys = ["split", "v_star"]
    groups = states.groupby(keys, observed=True)["v"]
    parts = {"least": 0.0, "q1": 0.25, "median": 0.5, "q3": 0.75, "most": 1.0}
    found = pd.DataFrame({name: groups.quantile(part) for name, part in parts.items()})
    inside = states[_inside(states, found)].groupby(keys, observed=True)["v"]
    found["low"], found["high"] = inside.min(), inside.max()
    found["states"] = groups.size()
    found["outliers"] = found["states"] - inside.size()
    columns = ["states", "least", "low", "q1", "median", "q3", "high", "most", "outliers"]
    return found[columns].reset_index().astype({"split": str})


def outliers(states: pd.DataFrame) -> pd.DataFrame:
    """Some outliers of each split and V*: the extreme ones, and others spread between them.

    Examples
    --------
    >>> known = {"split": "a", "instance": 0, "state": range(5), "v_star": 2}
    >>> table = pd.DataFrame({**known, "value": [1, 2, 2, 3, 9]})
    >>> outliers(labelled_states(table, ["a"], "value")).to_dict("records")
    [{'split': 'a', 'v_star': 2, 'v': 9.0, 'states': 1}]
    """
    keys = ["split", "v_star"]
    groups = states.groupby(keys, observed=True)["v"]
    quartiles = pd.DataFrame({"q1": groups.quantile(0.25), "q3": groups.quantile(0.75)})
    outside = states[~_inside(states, quartiles)]
    found = outside.groupby([*keys, "v"], observed=True).size().rename("states").reset_index()
    place = found.groupby(keys, observed=True).cumcount().to_numpy()
    size = found.groupby(keys, observed=True)["v"].transform("size").to_numpy()
    # A value is kept where its place among `size` values, scaled to `_POINTS` places, increases by one.
    last = np.maximum(size - 1, 1)
    drawn = place * (_POINTS - 1) // last
    before = (place - 1) * (_POINTS - 1) // last
    kept = (size <= _POINTS) | (place == 0) | (drawn > before)
    return found[kept].reset_index(drop=True).astype({"split": str})


def by_v_star(states: pd.DataFrame) -> pd.DataFrame:
    """For each V* the numbers of states that are right, too low and too high, and their errors.

    Examples
    --------
    >>> known = {"split": "a", "instance": 0, "state": range(3), "v_star": 2}
    >>> table = pd.DataFrame({**known, "value": [1, 2, 4]})
    >>> by_v_star(labelled_states(table, ["a"], "value")).iloc[0].to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'v_star': 2.0, 'states': 3.0, 'right': 1.0, 'too_low': 1.0, 'too_high': 1.0, 'mean_error': 1.0,
     'largest_error': 2.0}
    """
    marked = states.assign(
        right=states["error"] < HALF,
        too_low=states["difference"] <= -HALF,
        too_high=states["difference"] >= HALF,
    )
    groups = marked.groupby("v_star")
    found = groups.agg(
        states=("error", "size"),
        right=("right", "sum"),
        too_low=("too_low", "sum"),
        too_high=("too_high", "sum"),
        mean_error=("error", "mean"),
        largest_error=("error", "max"),
    )
    return found.reset_index()


def by_objects(states: pd.DataFrame, objects: Mapping[str, NDArray[np.int64]]) -> pd.DataFrame:
    """For each split and number of objects of the instance the mean and the largest error.

    Parameters
    ----------
    objects : for each split (n_instances,) the number of objects of each instance.

    Examples
    --------
    >>> known = {"split": "a", "instance": [0, 1], "state": [0, 1], "v_star": 2}
    >>> table = pd.DataFrame({**known, "value": [2, 5]})
    >>> found = by_objects(labelled_states(table, ["a"], "value"), {"a": np.array([4, 7])})
    >>> found[["objects", "largest_error"]].to_numpy().tolist()
    [[4.0, 0.0], [7.0, 3.0]]
    """
    split, instance = states["split"].to_numpy().astype(str), states["instance"].to_numpy()
    counts = np.zeros(len(states), dtype=np.int64)
    for name, sizes in objects.items():
        mine = split == name
        counts[mine] = sizes[instance[mine]]
    found = (
        states.assign(objects=counts)
        .groupby(["split", "objects"], observed=True)
        .agg(states=("error", "size"), mean_error=("error", "mean"), largest_error=("error", "max"))
    )
    return found.reset_index().astype({"split": str})


def confusion(states: pd.DataFrame) -> pd.DataFrame:
    """The number of states for each V* and rounded prediction.

    Predictions below minus the largest V*, or above twice the largest V*, are put at that border, so that
    the others stay visible.

    Examples
    --------
    >>> known = {"split": "a", "instance": 0, "state": range(3), "v_star": 2}
    >>> table = pd.DataFrame({**known, "value": [2, 2.4, 99]})
    >>> confusion(labelled_states(table, ["a"], "value")).to_numpy().tolist()
    [[2.0, 2.0, 2.0, 0.6666666666666666], [2.0, 4.0, 1.0, 0.3333333333333333]]
    """
    border = max(int(states["v_star"].max()), 1) if len(states) else 1
    rounded = np.clip(np.rint(states["v"].to_numpy()), -border, 2 * border).astype(np.int64)
    counts = states.assign(rounded=rounded).groupby(["v_star", "rounded"]).size().rename("states")
    found = counts.reset_index()
    found["share"] = found["states"] / found.groupby("v_star")["states"].transform("sum")
    return found


def worst(states: pd.DataFrame, most: int) -> pd.DataFrame:
    """The states that are not exact, by decreasing error.

    Examples
    --------
    >>> known = {"split": "a", "instance": 0, "state": range(3), "v_star": 2}
    >>> table = pd.DataFrame({**known, "value": [2, 3, 9]})
    >>> worst(labelled_states(table, ["a"], "value"), 5)["state"].tolist()
    [2, 1]
    """
    wrong = states[states["error"] > EXACT]
    found = wrong.nlargest(most, "error", keep="first")
    return found.reset_index(drop=True).astype({"split": str})


def scores(splits: Mapping[str, Mapping[str, Any]], network: Mapping[str, float]) -> pd.DataFrame:
    """One row for each split: the metrics of the value function, and the network's mean error.

    Parameters
    ----------
    splits : for each split its metrics in the run.
    network : for each split the network's mean error; empty without a network.

    Examples
    --------
    >>> scores({"test": {"states": 9, "mae": 0.5, "solved": 1, "instances": 2}}, {})["solved"].tolist()
    [0.5]
    """
    rows = []
    for name, kept in splits.items():
        row = {
            "split": name,
            "states": kept.get("states"),
            "mae": _number(kept.get("mae")),
            "max_error": _number(kept.get("max_error")),
            "within_half": _number(kept.get("within_half")),
            "greedy_optimal_steps": _share(kept.get("greedy_optimal_steps"), kept.get("greedy_steps")),
            "instances": kept.get("instances"),
            "solved": _share(kept.get("solved"), kept.get("instances")),
            "plan_length_ratio": _share(kept.get("plan_length"), kept.get("optimal_length")),
        }
        rows.append({**row, "network_mae": network[name]} if name in network else row)
    return pd.DataFrame(rows)


def network_errors(table: pd.DataFrame, splits: Sequence[str]) -> dict[str, float]:
    """For each split the mean error of the network; empty without a network."""
    if "network" not in table:
        return {}
    states = labelled_states(table, splits, "network")
    found = states.groupby("split", observed=True)["error"].mean()
    return {str(split): float(error) for split, error in found.items()}


def _inside(states: pd.DataFrame, quartiles: pd.DataFrame) -> NDArray[np.bool_]:
    """(n_states,) whether a prediction lies within the whiskers of its box."""
    own = states[["split", "v_star"]].merge(
        quartiles[["q1", "q3"]].reset_index(), on=["split", "v_star"], how="left"
    )
    q1, q3, v = own["q1"].to_numpy(), own["q3"].to_numpy(), states["v"].to_numpy()
    reach = _REACH * (q3 - q1)
    within: NDArray[np.bool_] = (v >= q1 - reach) & (v <= q3 + reach)
    return within


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _share(part: Any, whole: Any) -> float | None:
    part, whole = _number(part), _number(whole)
    return None if part is None or not whole else part / whole
