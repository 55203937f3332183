"""How many conflicts each colouring has, and what a stronger one would change."""

from collections.abc import Mapping, Sequence

import pandas as pd

from distill.jobs.expressivity import COLOURINGS, Confused

KINDS = ("1-WL set", "1-WL", "1-WL joint", "2-FWL set", "2-FWL")  # from what sees less to what sees more
SEEN_BY = {
    "1-WL set": "networks that take the maximum of messages; formulas without counting",
    "1-WL": "networks that add messages up; formulas with counting",
    "1-WL joint": "networks in which all atoms of a pair of objects are one message; formulas with "
    "intersections of relations, such as what is achieved of a goal",
    "2-FWL set": "networks on pairs of objects that take the maximum",
    "2-FWL": "networks on pairs of objects (as strong as 3-WL)",
}
UNKNOWN = "–"


def conflicts_table(found: Mapping[str, Confused]) -> pd.DataFrame:
    """A row for each colouring: E- and V-conflicts with plain and with marked goals; a dash if not counted.

    Examples
    --------
    >>> import numpy as np
    >>> one, none = Confused([[0, 1]], np.array([3, 4])), Confused([], np.zeros(0))
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
            "what sees so much": [SEEN_BY[name] for name in KINDS],
        }
    )


def changes(found: Mapping[str, Confused], goal_marking: bool) -> list[str]:
    """What would change for a network that adds messages up, in sentences.

    Parameters
    ----------
    goal_marking : whether it sees goals marked as achieved or missing.

    Examples
    --------
    >>> import numpy as np
    >>> one, none = Confused([[0, 1]], np.array([3, 4])), Confused([], np.zeros(0))
    >>> for sentence in changes({"1-WL": one, "1-WL+G": none, "1-WL joint": none}, False):
    ...     print(sentence)
    1 pair of states has the same colours but different V*: no network that adds up can be right on both.
    With goals marked, no V-conflict would be left.
    With joint messages, no V-conflict would be left.
    """
    own = "1-WL+G" if goal_marking else "1-WL"
    if own not in found:
        return []
    v = found[own].v
    if not v:
        return [
            "No two of these states have the same colours but different V*: a network that adds messages up "
            "sees enough, and more power would not help V* here.",
            *_maximum(found, goal_marking),
        ]
    pairs = "1 pair of states has" if v == 1 else f"{v:,} pairs of states have"
    told = [f"{pairs} the same colours but different V*: no network that adds up can be right on both."]
    ways = [("goals marked", "1-WL+G")] if not goal_marking else []
    suffix = "+G" if goal_marking else ""
    ways += [
        ("joint messages", f"1-WL joint{suffix}"),
        ("a network on pairs of objects (2-FWL)", f"2-FWL{suffix}"),
    ]
    told += [_left(way, found[name].v) for way, name in ways if name in found]
    return told


def _left(way: str, v: int) -> str:
    left = "no V-conflict" if not v else "1 V-conflict" if v == 1 else f"{v:,} V-conflicts"
    return f"With {way}, {left} would be left."


def _maximum(found: Mapping[str, Confused], goal_marking: bool) -> list[str]:
    name = "1-WL set+G" if goal_marking else "1-WL set"
    if name in found and found[name].v:
        return [
            f"One that takes the maximum does not: it has {found[name].v:,} V-conflicts, and needs to count."
        ]
    return []


def with_conflicts(found: Mapping[str, Confused]) -> list[str]:
    """The colourings that confuse something, those that see most first."""
    strongest: Sequence[str] = [name for kind in reversed(KINDS) for name in (f"{kind}+G", kind)]
    return [name for name in strongest if name in found and name in COLOURINGS and found[name].e]
