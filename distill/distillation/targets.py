"""Targets of the explanation: the optimal value of states, or the value that the network computes.

A target defines which states are used, their labels, how features are fitted to them, and in which states a
value function is wrong. A new target is a subclass in `TARGETS`; the setting `target` names it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.distillation.settings import Distillation
from distill.networks import Replay
from distill.regression import ExactFit, fit_exact
from distill.structures import UNSOLVABLE, V_STAR, Quotient

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Progress = Callable[[str, int, int], None]

TRAIN = 0  # the split of training states in a quotient
_EQUAL = 1e-6  # values closer than this are the same


class Target(ABC):
    """A target; by default every solvable state has a label.

    Attributes
    ----------
    name : the value of the setting `target`.
    needs_network : whether the labels come from the network.
    sentence : a description of the labels.
    """

    name: ClassVar[str]
    needs_network: ClassVar[bool] = False
    sentence: ClassVar[str]

    def rows(self, quotient: Quotient) -> Booleans:
        """(n_state_rows,) the states that are fitted: those from which a goal can be reached."""
        found: Booleans = quotient.labels[V_STAR] != UNSOLVABLE
        return found

    @abstractmethod
    def labels(self, quotient: Quotient, activations: Replay | None = None) -> Floats | None:
        """(n_state_rows,) the labels; None if they are unknown.

        Parameters
        ----------
        activations : of the network on the quotient, if they were computed.
        """

    def known_labels(self, quotient: Quotient, activations: Replay | None = None) -> Floats:
        """(n_state_rows,) the labels; an error if they are unknown. See `labels`."""
        found = self.labels(quotient, activations)
        if found is None:
            raise InputError(f"Target {self.name} needs a network; give a checkpoint.")
        return found

    def training_rows(self, quotient: Quotient) -> Integers:
        """Numbers of the training states that can be used."""
        return np.flatnonzero((quotient.split == TRAIN) & self.rows(quotient))

    def fit(
        self,
        values: NDArray[Any],
        labels: Floats,
        sizes: Sequence[int],
        counts: NDArray[Any],
        settings: Distillation,
        *,
        products: bool = True,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> ExactFit:
        """The shortest weighted sum of features with these labels; see `fit_exact`.

        Parameters
        ----------
        values : (n_rows, n_features).
        labels, counts : (n_rows,) the target, and the weight of each row.
        sizes : (n_features,) symbols of each feature.
        time_limit : by default that of the settings.
        """
        return fit_exact(
            values,
            labels,
            sizes,
            counts,
            products=products,
            intercept=settings.intercept,
            nonnegative=settings.nonnegative,
            max_terms=settings.max_features,
            time_limit=settings.time_limit if time_limit is None else time_limit,
            progress=progress,
        )

    def wrong(self, quotient: Quotient, predict: Callable[[], NDArray[Any]]) -> Integers:
        """Numbers of the training states whose value differs from a known label.

        Parameters
        ----------
        predict : gives (n_state_rows,) the values; called only if there are labels.
        """
        labels = self.labels(quotient)
        if labels is None:
            return np.zeros(0, dtype=np.int64)
        rows = self.training_rows(quotient)
        return rows[np.abs(predict()[rows] - labels[rows]) > _EQUAL]

    def conflict(self, quotient: Quotient) -> tuple[int, int] | None:
        """Two training states with the same rows of objects and different labels, or None."""
        if self.labels(quotient) is None:
            return None
        rows = self.training_rows(quotient)
        factors = np.random.default_rng(0).integers(-(1 << 62), 1 << 62, len(quotient.layers[-1]))
        codes = (quotient.layers[-1].histogram @ factors)[rows]
        order = np.argsort(codes, kind="stable")
        same = np.flatnonzero(codes[order][1:] == codes[order][:-1])
        return (int(rows[order[same[0]]]), int(rows[order[same[0] + 1]])) if len(same) else None

    @abstractmethod
    def verdict(self, fit: Mapping[str, Any], best: str) -> list[str]:
        """Properties of a fit, as sentences; states are indented.

        Parameters
        ----------
        fit : see `DistillationResult`.
        best : the name of the function that is shown if the fit is not exact.
        """


class OptimalValue(Target):
    """V*, the length of a shortest plan."""

    name = "optimal"
    sentence = "The formulas were fitted to V*, not to the network."

    def labels(self, quotient: Quotient, activations: Replay | None = None) -> Floats:
        """(n_state_rows,) V*."""
        return quotient.labels[V_STAR].astype(np.float64)

    def verdict(self, fit: Mapping[str, Any], best: str) -> list[str]:
        """Whether the fit is exact, and which states prevent it."""
        if not fit:
            return ["Nothing is known of the fit."]
        if fit["exact"]:
            gap = fit.get("gap", 0.0)
            rest = f"; one that is {gap:.0%} smaller is not ruled out" if gap else ""
            return [f"Exact on all training states{rest}."]
        found = [f"NOT exact on all training states; {best} is shown."]
        if fit.get("conflict"):
            found.append("No network or formula distinguishes two states with different V*:")
            found += [f"  V* = {state['v_star']}: {state['atoms']}" for state in fit["conflict"]]
        elif fit.get("blocking"):
            found.append("No exact fit exists in the pool; among the states that prevent it:")
            found += [f"  V* = {state['v_star']}: {state['atoms']}" for state in fit["blocking"]]
        elif "wrong" in fit:
            found.append(
                f"{fit['wrong']} classes of states have errors; more time or other settings may help."
            )
        return found


class NetworkValue(Target):
    """The value that the network computes; known only for states with activations."""

    name = "model"
    needs_network = True
    sentence = "The formulas were fitted to the network's values."

    def labels(self, quotient: Quotient, activations: Replay | None = None) -> Floats | None:
        """(n_state_rows,) the network's V."""
        return None if activations is None else activations.value.astype(np.float64)

    def verdict(self, fit: Mapping[str, Any], best: str) -> list[str]:
        """The fit is never called exact: the values are real numbers."""
        return [f"The network's own values are explained; this is {best}."]


TARGETS: Mapping[str, Target] = {target.name: target for target in (OptimalValue(), NetworkValue())}


def target_named(name: str) -> Target:
    """The target of a name.

    Examples
    --------
    >>> target_named("model").needs_network
    True
    """
    if name not in TARGETS:
        raise InputError(f"There is no target {name}; choose from {', '.join(TARGETS)}.")
    return TARGETS[name]


def target_of(config: Mapping[str, Any]) -> Target:
    """The target of a run's config; V* if it names none that is known here.

    Examples
    --------
    >>> target_of({"distillation": {"target": "model"}}).name, target_of({}).name
    ('model', 'optimal')
    """
    settings = config.get("distillation") or {}
    return TARGETS.get(str(settings.get("target")), TARGETS[OptimalValue.name])
