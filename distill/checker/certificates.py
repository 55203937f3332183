"""Recheck the certificate of a value function."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .claims import check_aside, check_claims, not_checked
from .errors import CannotCheckError, CertificateError
from .instances import PlainInstance, State, vocabulary
from .nodes import check_nodes, written
from .pddl import Atom, Domain, read_atom, read_domain
from .reading import read_certificate
from .state_space import EQUAL, StateSpace
from .symmetry import colours, isomorphism

_Structure = tuple[list[str], frozenset[Atom]]


def recheck(
    path: Path,
    *,
    max_objects: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    max_states: int = 200_000,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Recheck a certificate file.

    Parameters
    ----------
    max_objects : only instances with at most this many objects.
    sample : number of instances, drawn at random; all by default.
    seed : random seed of the sample.
    max_states : an instance with more states raises an error.
    progress : called with the number of finished instances and of all instances.

    Returns
    -------
    The value function, whether it holds, the number of instances, of rechecked instances and of their
    states, and the entries that were not checked, with reasons. `CertificateError` is raised if a statement
    is false, and its subclass `CannotCheckError` if the file cannot be checked.
    """
    if sample is not None and sample < 1:
        raise CannotCheckError("a sample needs at least one instance")
    if max_states < 1:
        raise CannotCheckError("at least one state must be allowed")
    certificate = read_certificate(path)
    check_claims(certificate)
    domain = read_domain(certificate["domain"])
    check_nodes(certificate["nodes"], vocabulary(domain, certificate["goal_marking"]))
    if written(certificate["nodes"], len(certificate["value"])) != certificate["value"]:
        raise CertificateError("the text of the value function is not that of its nodes")
    check_aside(certificate, domain)
    work = _Recheck(certificate, domain, max_states)
    chosen = work.choose(max_objects, sample, seed)
    for done, number in enumerate(chosen):
        progress(done, len(chosen))
        try:
            work.instance(number)
        except CertificateError as error:
            raise type(error)(f"instance {number + 1}: {error}") from error
    work.finish()
    return {
        "value": certificate["value"],
        "holds": certificate["holds"],
        "instances": len(certificate["instances"]),
        "rechecked": len(chosen),
        "states": work.states,
        "unchecked": not_checked(certificate, len(chosen), work.merged),
    }


class _Recheck:
    """Rechecks instances one by one, and collects what concerns several of them."""

    def __init__(self, certificate: dict[str, Any], domain: Domain, max_states: int) -> None:
        self.entries, self.example = certificate["instances"], certificate["counterexample"]
        self.sizes, self.symmetry = certificate["sizes"], certificate["symmetry"]
        self.rows, self.domain, self.max_states = certificate["nodes"], domain, max_states
        self.irrelevant = frozenset(certificate["aside"])
        self.states, self.merged = 0, False
        self._steps: dict[int, list[int]] = {}  # for each number of objects
        self._families: dict[Any, list[tuple[int, _Structure]]] = {}  # those of equal colours
        self._smallest: tuple[int, float, int] | None = None
        self._of_example: int | None = None
        self._wrong: PlainInstance | None = None
        if self.example:
            self._wrong = PlainInstance(domain, self.example["pddl"])
            self._of_example = self._instance_of(self._wrong)

    def _instance_of(self, wrong: PlainInstance) -> int:
        """The number of the instance that a counterexample is a state of."""
        for number, entry in enumerate(self.entries):
            if entry["objects"] != len(wrong.objects):
                continue
            if PlainInstance(self.domain, entry["pddl"]).family == wrong.family:
                return number
        raise CertificateError("the counterexample is a state of no instance")

    def choose(self, max_objects: int | None, sample: int | None, seed: int) -> list[int]:
        """The numbers of the instances to recheck; that of the counterexample always is among them."""
        numbers = [
            number
            for number, entry in enumerate(self.entries)
            if max_objects is None or entry["objects"] <= max_objects
        ]
        if not numbers:
            raise CannotCheckError(f"no instance has at most {max_objects} objects")
        if sample is not None and sample < len(numbers):
            numbers = random.Random(seed).sample(numbers, sample)
        if self._of_example is not None and self._of_example not in numbers:
            numbers.append(self._of_example)
        return numbers

    def instance(self, number: int) -> None:
        """Recheck all states of an instance."""
        entry = self.entries[number]
        instance = PlainInstance(self.domain, entry["pddl"])
        starts = [instance.start, *(self._state(atoms, instance) for atoms in entry["starts"])]
        space = self._space(instance, starts, self.symmetry)
        found = space.summary()
        for key in ("objects", "classes", "states", "dead_ends", "max_v_star", "wrong", "profile"):
            if found[key] != entry[key]:
                raise CertificateError(f"{key} is {found[key]}, not {entry[key]}")
        self._check_distinct(number, instance)
        self.states += len(space.states)
        self.merged |= space.n_classes < len(space.classes)
        self._steps.setdefault(entry["objects"], []).append(int(str(found["steps"])))
        ranks = [space.rank(state) for state, broken in enumerate(space.violations) if broken]
        self._smallest = min([*ranks, *([self._smallest] if self._smallest else [])], default=None)
        wrong = self._wrong if number == self._of_example else None
        if wrong is not None and space.relevant(wrong.start) not in space.classes:
            raise CertificateError("the counterexample cannot be reached")

    def finish(self) -> None:
        """Check the numbers of steps and the counterexample."""
        for size in self.sizes:
            steps = self._steps.get(size["objects"], [])
            if len(steps) == size["scenes"] and sum(steps) != size["steps"]:
                raise CertificateError(
                    f"with {size['objects']} objects there are {sum(steps)} steps, not {size['steps']}"
                )
        if self._wrong is not None:
            self._check_example(self._wrong)

    def _check_example(self, wrong: PlainInstance) -> None:
        if self._state(self.example["state"], wrong) != wrong.start:
            raise CertificateError("the state of the counterexample is not that of its PDDL")
        space = self._space(wrong, [wrong.start], False)
        if (space.v_star[0], space.violations[0]) != (self.example["v_star"], self.example["broken"]):
            raise CertificateError("V* or the violated properties of the counterexample differ")
        if abs(space.values[0] - self.example["value"]) > EQUAL:
            raise CertificateError("the value of the counterexample differs")
        # Of states that differ in irrelevant atoms any may be shown.
        known = 2 if self.irrelevant else 3
        if self._smallest is not None and self._smallest[:known] < space.rank(0)[:known]:
            raise CertificateError("the counterexample is not the smallest wrong state")

    def _space(self, instance: PlainInstance, starts: list[State], symmetry: bool) -> StateSpace:
        return StateSpace(
            instance,
            starts,
            self.rows,
            irrelevant=self.irrelevant,
            symmetry=symmetry,
            max_states=self.max_states,
        )

    def _state(self, atoms: list[str], instance: PlainInstance) -> State:
        state = frozenset(read_atom(atom, self.domain, instance.objects) for atom in atoms)
        if len(state) < len(atoms) or any(atom[0] not in instance.fluent for atom in state):
            raise CertificateError("a state lists an atom twice, or one that no action changes")
        return state

    def _check_distinct(self, number: int, instance: PlainInstance) -> None:
        """Check that an instance is not another one with other names, which would count twice."""
        own: _Structure = (list(instance.objects), instance.fixed_atoms)
        colour = colours(*own)
        alike = self._families.setdefault(frozenset(Counter(colour.values()).items()), [])
        for other, structure in alike:
            same = own == structure
            if self.symmetry:
                same = isomorphism(own, structure, {}, colour, colours(*structure)) is not None
            if same:
                raise CertificateError(f"it is the same as instance {other + 1}")
        alike.append((number, own))
