"""Settings of labelling."""

from typing import Literal, Self

from pydantic import model_validator

from distill.common import MOST_SEED, Real, Settings, SomeNames, setting

MOST_STEPS = 20_000_000
"""Largest number of steps of all random walks together in an instance."""


class Labelling(Settings):
    """Settings for labelling states.

    Examples
    --------
    >>> Labelling.from_mapping({"walks": 2}, "an example").walks
    2
    >>> Labelling.description("walk_length")
    'Steps of each walk; every state on it gets an optimal plan. [20]'
    """

    added = frozenset({"states", "memory_limit"})

    states: Literal["reachable", "walks"] = setting(
        "reachable",
        "Which states: all reachable ones of an instance that has at most max_states (reachable), or at "
        "every size those on random walks and on an optimal plan from each of them, as often as they are "
        "visited (walks; thesis 5.1.7).",
    )
    max_states: int = setting(100_000, "Expand an instance fully while it has at most so many states.")
    walks: int = setting(
        1, "Beyond that: random walks from the initial state; 0 refuses such instances.", most=1_000_000
    )
    walk_length: int = setting(
        20, "Steps of each walk; every state on it gets an optimal plan.", most=1_000_000
    )
    search: SomeNames[str] = setting(("astar",), "Optimal planners for these plans, tried in turn.")
    search_states: int = setting(1_000_000, "A search by pymimir gives up beyond so many states.")
    time_limit: Real = setting(20.0, "Seconds for each instance.", least=0.001)
    memory_limit: Real = setting(
        0.0, "Gigabytes for each process; 0: 80% of the available memory for all of them."
    )
    seed: int = setting(0, "Seed of the random walks.", most=MOST_SEED)

    @model_validator(mode="after")
    def _walks_are_bounded(self) -> Self:
        steps = self.walks * self.walk_length
        if steps > MOST_STEPS:
            raise ValueError(f"walks times walk_length must be at most {MOST_STEPS}, not {steps}.")
        return self
