"""Instance families: instances with the same objects, static facts and goal, and different initial states.

An atom is a row of numbers: the position of its predicate in the vocabulary, then the positions of its
objects in the family.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from distill.common import InputError, offsets
from distill.planning.enumeration import Layouts
from distill.planning.generators import problem_text
from distill.planning.grounding_size import refuse_large_grounding
from distill.planning.pddl import Domain, Instance, literal_text
from distill.planning.schemas import schemas_of
from distill.structures import GOAL, GOAL_ABSENT, V_STAR, DataSet, Vocabulary

Row = tuple[int, ...]
_MOST_LISTED = 10**7  # ground actions of a schema, which a family lists


@dataclass(frozen=True)
class InstanceFamily:
    """Instances that differ only in their initial states.

    Attributes
    ----------
    objects : their names.
    kinds : the declared type of each object; `""` in a domain without types.
    fixed : atoms that hold in every state, the goal among them; ascending.
    starts : for each instance the other atoms of its initial state; ascending.
    symmetries : the number of permutations of the objects that preserve the fixed atoms; 0 if unknown.
    """

    objects: tuple[str, ...]
    kinds: tuple[str, ...]
    fixed: tuple[Row, ...]
    starts: tuple[tuple[Row, ...], ...]
    symmetries: int = 0

    def reorder(self, order: Sequence[int]) -> "InstanceFamily":
        """The same family with its objects in another order.

        Parameters
        ----------
        order : (n_objects,) the old positions of the objects, in the new order.
        """
        place = {old: new for new, old in enumerate(order)}

        def moved(rows: Iterable[Row]) -> tuple[Row, ...]:
            return tuple(sorted((row[0], *(place[x] for x in row[1:])) for row in rows))

        return InstanceFamily(
            tuple(self.objects[old] for old in order),
            tuple(self.kinds[old] for old in order),
            moved(self.fixed),
            tuple(moved(start) for start in self.starts),
            self.symmetries,
        )


class InstanceFamilies:
    """Makes families of one domain, and writes them as PDDL and as data sets.

    Attributes
    ----------
    domain : the domain.
    vocabulary : its predicates, with plain goals.
    number : the position of each predicate in the vocabulary, by name.
    schemas : its actions.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> from distill.planning.enumeration import all_layouts
    >>> problem = problem_class("miconic")
    >>> families = InstanceFamilies(problem.domain)
    >>> family = families.of_layouts(next(iter(all_layouts(problem, 3))))
    >>> family.objects, len(family.starts)
    (('p1', 'f1', 'f2'), 2)
    >>> families.atom_names(family.starts[0], family)
    ['(lift-at f1)']
    """

    def __init__(self, domain: Domain, absent_goals: Iterable[str] = ()) -> None:
        if len(domain.pymimir.get_derived_predicates()):
            raise InputError(
                f"{domain.source} has derived predicates, which cannot be verified; state them as facts "
                "that actions change, or evaluate the run on labelled states with `distill evaluate`."
            )
        self.domain = domain
        self.vocabulary: Vocabulary = domain.vocabulary(absent_goals)
        self.number = {predicate.name: number for number, predicate in enumerate(self.vocabulary)}
        self.schemas = schemas_of(domain)
        self._static = {predicate.get_name() for predicate in domain.pymimir.get_static_predicates()}
        self._types_of_kind: dict[str, tuple[str, ...]] = {}

    def of_layouts(self, layouts: Layouts) -> InstanceFamily:
        """The family of enumerated layouts."""
        constants = {
            constant.get_name(): constant.get_bases()[0].get_name()
            for constant in self.domain.pymimir.get_constants()
        }
        kind_of = {name: kind for kind, names in layouts.objects.items() for name in names} | constants
        number = {name: place for place, name in enumerate(kind_of)}
        fixed = {self._row(atom, number) for atom in layouts.facts}
        fixed |= {self._row((atom[0] + GOAL, *atom[1:]), number) for atom in layouts.goal}
        fixed |= {self._row((f"is_{name}", name), number) for name in constants}
        for name, kind in kind_of.items():
            fixed |= {self._row((known, name), number) for known in self._types(kind)}
        starts = []
        for start in layouts.starts:
            # A static fact holds in all states.
            if any(atom[0] in self._static for atom in start):
                raise ValueError("a start has a static fact, which belongs to the facts")
            starts.append(tuple(sorted(self._row(atom, number) for atom in start)))
        return InstanceFamily(tuple(kind_of), tuple(kind_of.values()), tuple(sorted(fixed)), tuple(starts))

    def of_instance(self, instance: Instance) -> InstanceFamily:
        """The family of a single instance."""
        refuse_large_grounding(instance, _MOST_LISTED)
        number = {name: place for place, name in enumerate(instance.objects)}
        fixed = {self._row((name, *arguments), number) for name, arguments in instance.facts}
        fixed |= {self._row((f"is_{name}", name), number) for name in self.domain.constants}
        for name, arguments, holds in instance.goals:
            fixed.add(self._row((name + (GOAL if holds else GOAL_ABSENT), *arguments), number))
        atoms = instance.fluent_atoms(instance.initial_state)
        start = tuple(sorted(self._row((name, *arguments), number) for name, arguments in atoms))
        typed = ":typing" in self.domain.text
        listed = instance.problem.get_problem_and_domain_objects()
        kinds = [obj.get_bases()[0].get_name() if typed else "" for obj in listed]
        return InstanceFamily(instance.objects, tuple(kinds), tuple(sorted(fixed)), (start,))

    def atom_names(self, rows: Iterable[Row], family: InstanceFamily) -> list[str]:
        """Atoms in PDDL."""
        names = [predicate.name for predicate in self.vocabulary]
        return [literal_text(names[row[0]], (family.objects[x] for x in row[1:])) for row in rows]

    def to_pddl(self, family: InstanceFamily, state: Iterable[Row], name: str) -> str:
        """The instance with a state as its initial state."""
        predicates = self.vocabulary.predicates
        facts = [row for row in family.fixed if predicates[row[0]].role in ("state", "nullary")]
        wanted = []
        for row in family.fixed:
            predicate = predicates[row[0]]
            if predicate.role == "goal":
                arguments = [family.objects[x] for x in row[1:]]
                wanted.append(literal_text(predicate.base, arguments, not predicate.wants_absence))
        objects: dict[str, list[str]] = {}
        for obj, kind in zip(family.objects, family.kinds, strict=True):
            if obj not in self.domain.constants:
                objects.setdefault(kind, []).append(obj)
        init = self.atom_names([*facts, *state], family)
        return problem_text(name, self.domain.pymimir.get_name(), objects, init, wanted)

    def data(self, families: Sequence[InstanceFamily], states: Sequence[Sequence[Sequence[Row]]]) -> DataSet:
        """States of families as a data set, without labels.

        Parameters
        ----------
        states : for each family its states, each a list of its atoms that are not fixed.
        """
        width = max(1, max(predicate.arity for predicate in self.vocabulary))
        table: list[Row] = []
        ends, n_fixed, instances = [0], [], []
        entries: list[int] = []
        sizes: list[int] = []
        for family, own in zip(families, states, strict=True):
            used = sorted({row for state in own for row in state})
            place = {row: number for number, row in enumerate(used, start=len(table) + len(family.fixed))}
            for state in own:
                numbers = sorted(place[row] for row in state)
                entries += numbers
                sizes.append(len(numbers))
            table += [*family.fixed, *used]
            ends.append(len(table))
            n_fixed.append(len(family.fixed))
            instances.append(
                {
                    "name": "",
                    "pddl": "",
                    "parameters": {},
                    "objects": list(family.objects),
                    "states": len(own),
                    "solvable": None,
                    "exhaustive": True,
                    "unlabelled": 0,
                }
            )
        rows = np.full((len(table), width + 1), -1, dtype=np.int32)
        for number, row in enumerate(table):
            rows[number, : len(row)] = row
        return DataSet(
            vocabulary=self.vocabulary,
            domain=self.domain.text,
            instances=tuple(instances),
            atom_predicate=rows[:, 0].copy(),
            atom_arguments=rows[:, 1:].copy(),
            atom_offsets=np.array(ends),
            n_fixed=np.array(n_fixed, dtype=np.int32),
            state_instance=np.repeat(np.arange(len(families)), [len(own) for own in states]).astype(np.int32),
            state_offsets=offsets(np.array(sizes, dtype=np.int64)),
            state_atoms=np.array(entries, dtype=np.int32),
            labels={V_STAR: np.zeros(len(sizes), dtype=np.int32)},
            multiplicity=np.ones(len(sizes), dtype=np.int32),
        )

    @cached_property
    def fluent(self) -> list[int]:
        """The positions in the vocabulary of the predicates that actions change."""
        names = {predicate.get_name() for predicate in self.domain.pymimir.get_fluent_predicates()}
        return [number for number, predicate in enumerate(self.vocabulary) if predicate.name in names]

    def _row(self, atom: Sequence[str], number: dict[str, int]) -> Row:
        return (self.number[atom[0]], *[number[name] for name in atom[1:]])

    def _types(self, kind: str) -> tuple[str, ...]:
        """All types that pymimir derives for an object with this declared type."""
        if not kind:
            return ()
        if kind not in self._types_of_kind:
            name = self.domain.pymimir.get_name()
            text = f"(define (problem p) (:domain {name}) (:objects o - {kind}) (:init) (:goal (and)))"
            facts = Instance(self.domain, text, "p", generated=True).facts
            self._types_of_kind[kind] = tuple(known for known, arguments in facts if arguments == ("o",))
        return self._types_of_kind[kind]
