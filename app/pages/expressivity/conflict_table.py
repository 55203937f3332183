"""The number of conflicts of each colouring, and the effect of stronger ones."""

from collections.abc import Mapping, Sequence

import pandas as pd

from distill.symmetry import COLOURINGS, Conflicts

KINDS = ("1-WL set", "1-WL", "1-WL joint", "2-FWL set", "2-FWL")  # by increasing expressivity
SEEN_BY = {
    "1-WL set": "networks that take the maximum of messages; formulas without counting",
    "1-WL": "networks that sum messages; formulas with counting",
    "1-WL joint": "networks with one message for all atoms of a pair of objects; formulas with "
    "intersections of relations, such as achieved goals",
    "2-FWL set": "networks on pairs of objects that take the maximum",
    "2-FWL": "networks on pairs of objects (as strong as 3-WL)",
}
UNKNOWN = "–"


def conflicts_table(found: Mapping[str, Conflicts]) -> pd.DataFrame:
    """One row for each colouring: E- and V-conflicts with plain and with marked goals; a dash if not counted.

    Examples
    --------
    >>> import numpy as np
    >>> one, none = Conflicts([[0, 1]], np.array([3, 4])), Conflicts([], np.zeros(0))
    >>> table = conflicts_table({"1-WL": one, "1-WL+G": none})
    >>> table[table["colouring"] == "1-WL"].iloc[0, 1:5].tolist()
    ['1', '1', '0', '0']
    """

    def number(name: str, kind: str) -> str:
        return f"{getattr(found[name], kind):,}" if name in found else UNKNOWN

    return pd.DataFrame(
        {
            "colouring": list(KINDS),
            "E": [number(name, "e") for name in KINDS],
            "V": [number(name, "v") for name in KINDS],
            "E, goals marked": [number(f"{name}+G", "e") for name in KINDS],
            "V, goals marked": [number(f"{name}+G", "v") for name in KINDS],
            "networks and formulas": [SEEN_BY[name] for name in KINDS],
        }
    )


def changes(found: Mapping[str, Conflicts], goal_marking: bool) -> list[str]:
    """The V-conflicts of a network that sums messages, and those of stronger ones, as sentences.

    Parameters
    ----------
    goal_marking : whether goals are marked as achieved or missing.

    Examples
    --------
    >>> import numpy as np
    >>> one, none = Conflicts([[0, 1]], np.array([3, 4])), Conflicts([], np.zeros(0))
    >>> for sentence in changes({"1-WL": one, "1-WL+G": none, "1-WL joint": none}, False):
    ...     print(sentence)
    1 pair of states has the same colours but different V*: no network that sums messages is right on both.
    With goals marked, no V-conflict remains.
    With joint messages, no V-conflict remains.
    """
    own = "1-WL+G" if goal_marking else "1-WL"
    if own not in found:
        return []
    v = found[own].v
    if not v:
        return [
            "No two of these states have the same colours but different V*: a network that sums messages is "
            "sufficient for V* on them.",
            *_maximum(found, goal_marking),
        ]
    pairs = "1 pair of states has" if v == 1 else f"{v:,} pairs of states have"
    sentences = [
        f"{pairs} the same colours but different V*: no network that sums messages is right on both."
    ]
    changes = [("goals marked", "1-WL+G")] if not goal_marking else []
    suffix = "+G" if goal_marking else ""
    changes += [
        ("joint messages", f"1-WL joint{suffix}"),
        ("a network on pairs of objects (2-FWL)", f"2-FWL{suffix}"),
    ]
    sentences += [_left(change, found[name].v) for change, name in changes if name in found]
    return sentences


def _left(change: str, v: int) -> str:
    left = f"{v:,} V-conflicts remain" if v > 1 else f"{'1' if v else 'no'} V-conflict remains"
    return f"With {change}, {left}."


def _maximum(found: Mapping[str, Conflicts], goal_marking: bool) -> list[str]:
    name = "1-WL set+G" if goal_marking else "1-WL set"
    if name in found and found[name].v:
        return [f"A network that takes the maximum is not: it has {found[name].v:,} V-conflicts."]
    return []


def conflicting_colourings(found: Mapping[str, Conflicts]) -> list[str]:
    """The colourings with conflicts, by decreasing expressivity."""
    strongest: Sequence[str] = [name for kind in reversed(KINDS) for name in (f"{kind}+G", kind)]
    return [name for name in strongest if name in found and name in COLOURINGS and found[name].e]
