"""The abstract class of explanations, which are the results of distillation."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError, atomic_write, content_of, parse_json, read_text, shown
from distill.explanations.provenance import StateFeature
from distill.logic import Bounds
from distill.structures import Structures, Vocabulary

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", bound="type[Explanation]")

KINDS: dict[str, "type[Explanation]"] = {}
FIRST_KIND = "value function"  # of files that name no kind


class Explanation(ABC):
    """Formulas that order states: lower is closer to the goal.

    A kind is a subclass with the decorator `register`; files name the kind that reads them.

    Attributes
    ----------
    kind : the name under which files refer to the class.
    pool : all features of states that the explanation was chosen from.
    goal_marking : whether formulas refer to achieved and missing goals (`p_G,T`, `p_G,F`).
    label : where the pool comes from, and which control was used, if any.
    """

    kind: ClassVar[str]
    pool: tuple[StateFeature, ...]
    goal_marking: bool
    label: str

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of symbols when it is written out."""

    @abstractmethod
    def keys(self, states: Structures) -> Floats:
        """(n_states, n_columns) the key of each state; keys are compared column by column, less is better."""

    @abstractmethod
    def terms(self) -> list[tuple[float, StateFeature]]:
        """The features it uses, with their weights and their provenance.

        Where features have no weights, 1 means that less is better, and -1 that more is.
        """

    @abstractmethod
    def export(self, form: str, vocabulary: Vocabulary, bounds: Bounds | None = None) -> str:
        """The text of a file in one of the forms of `export.FORMS`; with `bounds`, in bounded form."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data, with `kind`; only the first kind, the value function, does not name itself."""

    @classmethod
    @abstractmethod
    def from_json(cls, whole: Mapping[str, Any]) -> "Explanation":
        """Undo `to_json`."""

    def rank(self, states: Structures) -> Floats:
        """(n_states,) numbers that order the states as their keys do; less is better.

        They can be compared within one batch only, for instance between all successors of a state.
        """
        keys = self.keys(states)
        if keys.shape[1] == 1:
            return keys[:, 0]
        return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.float64)

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        with atomic_write(path) as stream:
            stream.write(json.dumps(self.to_json()).encode())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote: any kind, or only that of a subclass."""
        name = getattr(cls, "kind", FIRST_KIND)
        try:
            with content_of(path):
                found = explanation_from_json(parse_json(read_text(path), shown(path)))
        except InputError as error:
            raise InputError(
                f"{shown(path)} holds no {name} ({error}); write it with `distill run`."
            ) from error
        if not isinstance(found, cls):
            raise InputError(f"{path} holds a {found.kind}, not a {cls.kind}; choose another run.")
        return found


def register(kind: Kind) -> Kind:
    """Register a kind of explanation, so that its files can be read; a class decorator."""
    KINDS[kind.kind] = kind
    return kind


def explanation_from_json(whole: Mapping[str, Any]) -> Explanation:
    """The explanation that plain data describe, of the kind that they name."""
    name = whole.get("kind", FIRST_KIND)
    if name not in KINDS:
        raise InputError(f"there is no kind of explanation {name!r}; choose from {', '.join(KINDS)}")
    return KINDS[name].from_json(whole)
