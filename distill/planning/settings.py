"""Settings of labelling."""

from typing import Literal

from pydantic import NonNegativeInt

from distill.common import NonNegativeReal, Settings, SomeNames, setting


class Labelling(Settings):
    """Settings for labelling states.

    Examples
    --------
    >>> Labelling.from_mapping({"walks": 2}, "an example").walks
    2
    >>> Labelling.description("walk_length")
    'Steps of each walk; every state on it gets an optimal plan. [20]'
    """

    added = frozenset({"states"})

    states: Literal["reachable", "walks"] = setting(
        "reachable",
        "Which states: all reachable ones of an instance that has at most max_states (reachable), or at "
        "every size those on random walks and on an optimal plan from each of them, as often as they are "
        "visited (walks; thesis 5.1.7).",
    )
    max_states: NonNegativeInt = setting(
        100_000, "Expand an instance fully while it has at most so many states."
    )
    walks: NonNegativeInt = setting(
        1, "Beyond that: random walks from the initial state; 0 refuses such instances."
    )
    walk_length: NonNegativeInt = setting(20, "Steps of each walk; every state on it gets an optimal plan.")
    search: SomeNames[str] = setting(("astar",), "Optimal planners for these plans, tried in turn.")
    search_states: NonNegativeInt = setting(1_000_000, "A search by pymimir gives up beyond so many states.")
    time_limit: NonNegativeReal = setting(20.0, "Seconds for each instance.")
    seed: NonNegativeInt = setting(0, "Seed of the random walks.")
