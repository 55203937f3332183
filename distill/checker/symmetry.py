"""Symmetries of the objects of an instance, by plain backtracking."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from .errors import CannotCheckError
from .pddl import Atom

Mapping = dict[str, str]
Atoms = frozenset[Atom]
_MOST_STEPS = 1_000_000  # pairs of objects that a search tries


def colours(objects: Iterable[str], atoms: Atoms) -> dict[str, str]:
    """A colour for each object that does not depend on names: different colours, no symmetry.

    Examples
    --------
    >>> found = colours("abc", frozenset({("on", "a", "b"), ("on", "b", "c")}))
    >>> len(set(found.values()))
    3
    """
    found = dict.fromkeys(objects, "")
    number = 0
    while len(set(found.values())) > number:
        number = len(set(found.values()))
        lines: dict[str, list[str]] = {name: [] for name in found}
        for predicate, *arguments in atoms:
            around = " ".join(found[one] for one in arguments)
            for place, name in enumerate(arguments):
                same = [other for other, one in enumerate(arguments) if one == name]
                lines[name].append(f"{predicate} {place} {same} {around}")
        found = {
            name: hashlib.sha256("\n".join([found[name], *sorted(own)]).encode()).hexdigest()[:16]
            for name, own in lines.items()
        }
    return found


class Symmetries:
    """The permutations of objects that map a set of atoms onto itself.

    Examples
    --------
    >>> found = Symmetries(["a", "b", "c"], frozenset({("goal", "a")}))
    >>> found.generators
    [{'a': 'a', 'b': 'c', 'c': 'b'}]
    >>> sorted(map(sorted, found.orbit(frozenset({("on", "a", "b")}), 9)))
    [[('on', 'a', 'b')], [('on', 'a', 'c')]]
    """

    def __init__(self, objects: Sequence[str], atoms: Atoms) -> None:
        self.generators: list[Mapping] = []
        colour, atoms_of = colours(objects, atoms), _by_object(atoms)
        # Permutations that fix many objects are found first, so that each object needs few of its own.
        for place in reversed(range(len(objects))):
            first, fixed = objects[place], {name: name for name in objects[:place]}
            tried = self._reached(first)
            for other in objects[place + 1 :]:
                if other in tried or colour[other] != colour[first]:
                    continue
                found: Mapping | None = {name: name for name in objects} | {first: other, other: first}
                if not _fits(found or {}, [*atoms_of.get(first, ()), *atoms_of.get(other, ())], atoms):
                    given = {**fixed, first: other}
                    found = isomorphism((objects, atoms), (objects, atoms), given, colour)
                if found is not None:
                    self.generators.append(found)
                tried |= self._reached(first) | self._reached(other)
        self._images: list[dict[Atom, Atom]] = [{} for _ in self.generators]

    def orbit(self, state: Atoms, most: int) -> set[Atoms]:
        """The states that are the same but for a symmetry; the search ends with more than `most`."""
        found, todo = {state}, [state]
        while todo and len(found) <= most:
            one = todo.pop()
            for generator, images in zip(self.generators, self._images, strict=True):
                other = frozenset([images.get(atom) or _moved(atom, generator, images) for atom in one])
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return found

    def _reached(self, first: str) -> set[str]:
        """The objects that the generators found so far map an object to."""
        found, todo = {first}, [first]
        while todo:
            one = todo.pop()
            for generator in self.generators:
                if generator[one] not in found:
                    found.add(generator[one])
                    todo.append(generator[one])
        return found


def isomorphism(
    one: tuple[Sequence[str], Atoms],
    other: tuple[Sequence[str], Atoms],
    given: Mapping,
    colour: dict[str, str],
    other_colour: dict[str, str] | None = None,
) -> Mapping | None:
    """A bijection of objects that maps the atoms of one structure onto those of another; None without one.

    Parameters
    ----------
    one, other : objects and atoms.
    given : what the bijection must map some objects to.
    colour, other_colour : see `colours`.
    """
    others = other_colour or colour
    if len(one[1]) != len(other[1]) or sorted(colour.values()) != sorted(others.values()):
        return None
    order = _order(one[0], one[1], list(given))
    atoms_of = _by_object(one[1])
    choices: list[Iterator[str]] = []
    mapped: Mapping = {}
    used: set[str] = set()
    steps = 0
    while len(mapped) < len(order):
        name = order[len(mapped)]
        if len(choices) == len(mapped):
            wanted = [given[name]] if name in given else [o for o in other[0] if others[o] == colour[name]]
            choices.append(iter(wanted))
        for choice in choices[-1]:
            steps += 1
            if steps > _MOST_STEPS:
                raise CannotCheckError("the search for the symmetries of its objects takes too long")
            if choice in used:
                continue
            mapped[name] = choice
            if _fits(mapped, atoms_of.get(name, ()), other[1]):
                used.add(choice)
                break
            del mapped[name]
        else:
            choices.pop()
            if not mapped:
                return None
            used.discard(mapped.popitem()[1])
    return mapped


def _fits(mapped: Mapping, atoms: Iterable[Atom], others: Atoms) -> bool:
    """Whether the atoms whose objects are mapped become atoms of the other structure."""
    return all(
        (atom[0], *[mapped[name] for name in atom[1:]]) in others
        for atom in atoms
        if all(name in mapped for name in atom[1:])
    )


def _order(objects: Sequence[str], atoms: Atoms, first: list[str]) -> list[str]:
    """The objects, given ones first and then, as far as possible, each after one it shares an atom with."""
    beside: dict[str, set[str]] = {name: set() for name in objects}
    for _, *arguments in atoms:
        for name in arguments:
            beside[name].update(arguments)
    order, placed, done = list(first), set(first), 0
    for start in [*first[:1], *objects]:
        if start not in placed:
            order.append(start)
            placed.add(start)
        while done < len(order):
            more = sorted(beside[order[done]] - placed)
            order += more
            placed.update(more)
            done += 1
    return order


def _by_object(atoms: Atoms) -> dict[str, list[Atom]]:
    found: dict[str, list[Atom]] = {}
    for atom in sorted(atoms):
        for name in set(atom[1:]):
            found.setdefault(name, []).append(atom)
    return found


def _moved(atom: Atom, mapping: Mapping, images: dict[Atom, Atom]) -> Atom:
    images[atom] = (atom[0], *[mapping[name] for name in atom[1:]])
    return images[atom]
