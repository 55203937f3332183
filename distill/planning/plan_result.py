"""The result of a planner."""

from dataclasses import dataclass

SOLVED, NO_PLAN, GAVE_UP = "solved", "unsolvable", "gave up"


@dataclass(frozen=True)
class PlanResult:
    """The result of a search for a plan.

    Attributes
    ----------
    status : `solved`, `unsolvable` (proven), or `gave up` (a limit was reached).
    plan : the actions, as in a plan file: `(pick ball1 rooma left)`; those executed so far if it gave up.
    note : the reason for giving up, if known.
    """

    status: str
    plan: tuple[str, ...] = ()
    note: str = ""
