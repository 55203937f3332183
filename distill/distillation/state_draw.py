"""Samples of states for the trees of thesis mode."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.structures import Quotient

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Sampling = Literal["uniform", "spread", "informed"]

_LEAST = 0.01  # share of the mean error that every state gets in informed samples


@dataclass(frozen=True, eq=False)
class StateDraw:
    """Draws states without replacement, from rows that stand for several states.

    Attributes
    ----------
    number : (n_state_rows,) the states of each row; 0 if they have no label.
    weight : (n_state_rows,) the weight of a state: the inverse frequency of its label among all states
        (thesis 2.19), the largest being 1.
    """

    number: Integers
    weight: Array

    @staticmethod
    def of(quotient: Quotient, label: str) -> "StateDraw":
        """Draw from the states of a quotient that have a label of at least 0."""
        value = quotient.labels[label]
        number = np.where(value >= 0, quotient.multiplicity, 0).astype(np.int64)
        if not number.any():
            raise InputError("No state with a path to the goal is left to learn from; label others.")
        values, place = np.unique(value, return_inverse=True)
        weight = 1 / np.maximum(1, np.bincount(place, number, len(values)))[place]
        return StateDraw(number, weight / weight[number > 0].max())

    def sample(
        self,
        size: int,
        sampling: Sampling,
        random: np.random.Generator,
        errors: Callable[[], Array | None] = lambda: None,
    ) -> Integers:
        """(n_state_rows,) how many states of each row are in a sample; all if there are at most `size`.

        Parameters
        ----------
        sampling : uniform: every state is equally likely (thesis Algorithm 2). spread: every value of the
            label is. informed: the likelihood of a state grows with its error; uniform without errors.
        errors : (n_state_rows,) the error of a state; None if it is unknown.

        Examples
        --------
        >>> draw = StateDraw(np.array([3, 1]), np.array([0.5, 1.0]))
        >>> draw.sample(2, "uniform", np.random.default_rng(0)).sum()
        np.int64(2)
        """
        if size < 1:
            raise InputError(f"A sample needs at least 1 state, not {size}.")
        total = int(self.number.sum())
        if size >= total:
            return self.number
        error = errors() if sampling == "informed" else None
        if sampling == "uniform" or (sampling == "informed" and error is None):
            return random.multivariate_hypergeometric(self.number, size, method="marginals")
        likelihood = self.weight
        if error is not None:
            # A state without an error is still drawn now and then.
            likelihood = error + max(1e-12, _LEAST * float(np.average(error, weights=self.number)))
        row = np.repeat(np.arange(len(self.number)), self.number)
        arrival = random.exponential(size=total) / likelihood[row]
        return np.bincount(row[np.argpartition(arrival, size)[:size]], minlength=len(self.number))
