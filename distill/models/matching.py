"""Whether a network can read a domain's states."""

from collections.abc import Iterator

from distill.errors import InputError
from distill.models.network import Network
from distill.structures import Vocabulary

_BUILT_IN = {"object", "number", "="}  # predicates that pymimir adds to every domain


def check_vocabulary(network: Network, domain: Vocabulary) -> None:
    """Refuse a domain whose predicates are not the network's, and say of each what is wrong.

    A network may know goals that no instance has, and types and nullary predicates that it does not know are
    passed over, as published networks do.

    Parameters
    ----------
    domain : the predicates of the structures, with plain goals.

    Examples
    --------
    >>> from distill.settings import Architecture
    >>> from distill.structures import Predicate
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> network = Network(words, Architecture(layers=1, size=2))
    >>> check_vocabulary(network, Vocabulary([Predicate("on", 3)]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    distill.errors.InputError: The network does not fit the domain: on has arity 3 in the domain and 2 ...
    """
    seen = domain.marked() if network.architecture.goal_marking else domain
    wrong = [*_unreadable(network.vocabulary, seen, domain), *_unknown(network.vocabulary, seen)]
    if wrong:
        raise InputError(
            f"The network does not fit the domain: {'; '.join(wrong)}. Give the domain it was trained on."
        )


def _unreadable(network: Vocabulary, seen: Vocabulary, domain: Vocabulary) -> Iterator[str]:
    for predicate in network:
        if predicate.name in seen:
            arity = seen[predicate.name].arity
            if max(1, arity) != max(1, predicate.arity):
                yield f"{predicate.name} has arity {arity} in the domain and {predicate.arity} in the network"
        elif predicate.base not in domain and predicate.base not in _BUILT_IN:
            yield f"{predicate.name} is missing in the domain"


def _unknown(network: Vocabulary, seen: Vocabulary) -> Iterator[str]:
    for predicate in seen:
        passed_over = predicate.role in ("type", "nullary") or predicate.arity == 0
        if predicate.name not in network and not passed_over:
            yield f"{predicate.name} is not known to the network"
