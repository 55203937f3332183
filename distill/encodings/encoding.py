"""Encodings of states as structures, the input of networks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from distill.structures import Structures, Vocabulary


class States(Protocol):
    """States that can be encoded as structures, such as a data set."""

    def structures(
        self, states: slice | ArrayLike | None = None, *, goal_marking: bool = False
    ) -> Structures:
        """Some states, or all of them."""


@dataclass(frozen=True)
class Encoding:
    """An encoding of states as structures.

    Attributes
    ----------
    name : its name in `ENCODINGS`.
    goal_marking : whether goals are split into achieved (`p_G,T`) and missing ones (`p_G,F`).

    Examples
    --------
    >>> from distill.structures import Predicate
    >>> domain = Vocabulary([Predicate("on", 2), Predicate("on_G", 2, "goal")])
    >>> [predicate.name for predicate in ENCODINGS["goal-marked"].vocabulary(domain)]
    ['on', 'on_G,T', 'on_G,F']
    """

    name: str
    goal_marking: bool

    def vocabulary(self, domain: Vocabulary) -> Vocabulary:
        """The predicates of the structures.

        Parameters
        ----------
        domain : the predicates of the domain, with plain goals.
        """
        return domain.marked() if self.goal_marking else domain

    def structures(self, data: States, states: slice | ArrayLike | None = None) -> Structures:
        """Encode states as structures.

        Parameters
        ----------
        states : a slice, Boolean mask or numbers; all states if left out.
        """
        return data.structures(states, goal_marking=self.goal_marking)


ENCODINGS: Mapping[str, Encoding] = {
    encoding.name: encoding for encoding in (Encoding("plain", False), Encoding("goal-marked", True))
}


def goal_encoding(goal_marking: bool) -> Encoding:
    """The encoding with plain or marked goals."""
    return ENCODINGS["goal-marked" if goal_marking else "plain"]
