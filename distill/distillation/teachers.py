"""Teachers: which transitions of a situation a policy may take.

The solver chooses among the allowed transitions; a single prescribed one makes rankings long or impossible.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.distillation.situations import Situations

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Teacher = Literal["model", "optimal", "free"]
TEACHERS: tuple[Teacher, ...] = get_args(Teacher)
_CONTRADICTION = 0.5  # between the value of a state and one more than its best successor's


def allowed_transitions(situations: Situations, teacher: Teacher, values: Floats | None = None) -> Booleans:
    """(n_transitions,) the transitions that a teacher allows; each situation has one, and none is dead.

    Parameters
    ----------
    teacher : `optimal` allows successors that are closer to a goal, `free` all successors from which a goal
        can be reached, and `model` those that the network ranks near its best one.
    values : (n_state_rows,) the values of the network, for `model`.
    """
    if teacher == "optimal":
        return situations.optimal
    if teacher == "free":
        return ~situations.dead
    if values is None:
        raise InputError("Teacher model needs a network; give a checkpoint, or choose optimal or free.")
    excess, best = _excess(situations, values)
    margin = margin_of(excess[~situations.dead])
    contradicts = np.abs(values[situations.state] - 1 - best) > _CONTRADICTION
    return ~situations.dead & ((excess <= margin) | contradicts[situations.source])


def margin_of(excess: Floats) -> float:
    """The middle of the widest gap between 0 and 1 among differences to the best value.

    Examples
    --------
    >>> margin_of(np.array([0.0, 0.1, 0.9, 1.1]))
    0.5
    """
    ordered = np.unique(np.concatenate([[0.0, 1.0], excess[(excess >= 0) & (excess <= 1)]]))
    widest = int(np.argmax(np.diff(ordered)))
    return float(ordered[widest : widest + 2].mean())


def _excess(situations: Situations, values: Floats) -> tuple[Floats, Floats]:
    """(n_transitions,) value of a successor minus that of the best; (n_situations,) the best.

    Successors from which no goal can be reached are not among the best.
    """
    after = values[situations.target].astype(np.float64)
    best = np.minimum.reduceat(np.where(situations.dead, np.inf, after), situations.first[:-1])
    return after - best[situations.source], best
