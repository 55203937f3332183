"""Compatibility of a network with a domain."""

from collections.abc import Iterator

from distill.common import InputError
from distill.networks.network import Network
from distill.structures import Vocabulary

_BUILT_IN = {"object", "number", "="}  # predicates that pymimir adds to every domain


def check_vocabulary(network: Network, domain: Vocabulary) -> None:
    """Refuse a domain whose predicates do not match the network's; the error lists all mismatches.

    The network may have goals that no instance has. Types and nullary predicates that it lacks are ignored,
    as in published networks.

    Parameters
    ----------
    domain : the predicates of the structures, with plain goals.

    Examples
    --------
    >>> from distill.networks import RGNN, Architecture
    >>> from distill.structures import Predicate
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> network = RGNN(words, Architecture(layers=1, size=2))
    >>> check_vocabulary(network, Vocabulary([Predicate("on", 3)]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: The network does not fit the domain: on has arity 3 in the ...
    """
    seen = network.encoding.vocabulary(domain)
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
        ignored = predicate.role in ("type", "nullary") or predicate.arity == 0
        if predicate.name not in network and not ignored:
            yield f"{predicate.name} is not known to the network"
