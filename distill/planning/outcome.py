"""What a planner answers."""

from dataclasses import dataclass

SOLVED, UNSOLVABLE, GAVE_UP = "solved", "unsolvable", "gave up"


@dataclass(frozen=True)
class Outcome:
    """The end of a search.

    Attributes
    ----------
    status : `solved`, `unsolvable` (proven), or `gave up` (a limit was reached).
    plan : the actions, as in a plan file: `(pick ball1 rooma left)`; what was done so far if it gave up.
    note : why it gave up, if that is known.
    """

    status: str
    plan: tuple[str, ...] = ()
    note: str = ""
