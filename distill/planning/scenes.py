"""Scenes: what instances share that differ only in where they begin, that is objects, static facts and goal.

Atoms are rows of numbers: the predicate by its place in the vocabulary, then the objects by their places in
the scene.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from distill.errors import InputError
from distill.planning.dataset import DataSet
from distill.planning.enumeration import Layouts
from distill.planning.pddl import Domain, Instance
from distill.planning.schemas import schemas_of
from distill.structures import Vocabulary, offsets
from distill.structures.vocabulary import GOAL, GOAL_ABSENT

Row = tuple[int, ...]


@dataclass(frozen=True)
class Scene:
    """Instances that differ only in the state they begin in.

    Attributes
    ----------
    objects : their names.
    kinds : the type of each object as declared, `""` in a domain without types.
    fixed : atoms that hold in every state, the goal among them; ascending.
    starts : for each instance the other atoms of its initial state; ascending.
    symmetries : the number of ways to permute the objects that keep all fixed atoms; 0 if nobody counted.
    """

    objects: tuple[str, ...]
    kinds: tuple[str, ...]
    fixed: tuple[Row, ...]
    starts: tuple[tuple[Row, ...], ...]
    symmetries: int = 0

    def renumbered(self, order: Sequence[int]) -> "Scene":
        """The same scene with its objects in another order.

        Parameters
        ----------
        order : (n_objects,) the old places of the objects, in the new order.
        """
        place = {old: new for new, old in enumerate(order)}

        def moved(rows: Iterable[Row]) -> tuple[Row, ...]:
            return tuple(sorted((row[0], *(place[x] for x in row[1:])) for row in rows))

        return Scene(
            tuple(self.objects[old] for old in order),
            tuple(self.kinds[old] for old in order),
            moved(self.fixed),
            tuple(moved(start) for start in self.starts),
            self.symmetries,
        )


class Scenes:
    """Makes scenes of one domain, and says what they are in PDDL and as states.

    Attributes
    ----------
    domain : the domain.
    vocabulary : its predicates, with plain goals.
    number : the place of each predicate in the vocabulary, by name.
    schemas : its actions.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> from distill.planning.enumeration import all_layouts
    >>> problem = problem_class("miconic")
    >>> scenes = Scenes(problem.domain)
    >>> scene = scenes.of_layouts(next(iter(all_layouts(problem, 3))))
    >>> scene.objects, len(scene.starts)
    (('p1', 'f1', 'f2'), 2)
    >>> scenes.written(scene.starts[0], scene)
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

    def of_layouts(self, layouts: Layouts) -> Scene:
        """The scene of enumerated layouts."""
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
            # What no action changes belongs to all states alike.
            if any(atom[0] in self._static for atom in start):
                raise ValueError("a start has a static fact, which belongs to the facts")
            starts.append(tuple(sorted(self._row(atom, number) for atom in start)))
        return Scene(tuple(kind_of), tuple(kind_of.values()), tuple(sorted(fixed)), tuple(starts))

    def of_instance(self, instance: Instance) -> Scene:
        """The scene of a single instance."""
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
        return Scene(instance.objects, tuple(kinds), tuple(sorted(fixed)), (start,))

    def written(self, rows: Iterable[Row], scene: Scene) -> list[str]:
        """Atoms in PDDL."""
        names = [predicate.name for predicate in self.vocabulary]
        return [f"({' '.join([names[row[0]], *(scene.objects[x] for x in row[1:])])})" for row in rows]

    def to_pddl(self, scene: Scene, state: Iterable[Row], name: str) -> str:
        """The instance that begins in a state."""
        roles = dict(enumerate(self.vocabulary))
        facts = [row for row in scene.fixed if roles[row[0]].role in ("state", "nullary")]
        wanted = []
        for row in scene.fixed:
            predicate = roles[row[0]]
            if predicate.role == "goal":
                [atom] = self.written([(self.vocabulary.index(predicate.base), *row[1:])], scene)
                wanted.append(f"(not {atom})" if predicate.wants_absence else atom)
        objects: dict[str, list[str]] = {}
        for obj, kind in zip(scene.objects, scene.kinds, strict=True):
            if obj not in self.domain.constants:
                objects.setdefault(kind, []).append(obj)
        declared = [" ".join(names) + (f" - {kind}" if kind else "") for kind, names in objects.items()]
        return (
            f"(define (problem {name})\n  (:domain {self.domain.pymimir.get_name()})\n"
            f"  (:objects {' '.join(declared)})\n"
            f"  (:init {' '.join(self.written([*facts, *state], scene))})\n"
            f"  (:goal (and {' '.join(wanted)})))\n"
        )

    def data(self, scenes: Sequence[Scene], states: Sequence[Sequence[Sequence[Row]]]) -> DataSet:
        """States of scenes as a data set, without labels.

        Parameters
        ----------
        states : for each scene its states, each a list of the atoms that are not fixed.
        """
        width = max(1, max(predicate.arity for predicate in self.vocabulary))
        table: list[Row] = []
        ends, n_fixed, instances = [0], [], []
        entries: list[int] = []
        sizes: list[int] = []
        for scene, own in zip(scenes, states, strict=True):
            used = sorted({row for state in own for row in state})
            place = {row: number for number, row in enumerate(used, start=len(table) + len(scene.fixed))}
            for state in own:
                numbers = sorted(place[row] for row in state)
                entries += numbers
                sizes.append(len(numbers))
            table += [*scene.fixed, *used]
            ends.append(len(table))
            n_fixed.append(len(scene.fixed))
            instances.append(_described(scene, len(own)))
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
            state_instance=np.repeat(np.arange(len(scenes)), [len(own) for own in states]).astype(np.int32),
            state_offsets=offsets(_integers(sizes)),
            state_atoms=np.array(entries, dtype=np.int32),
            v_star=np.zeros(len(sizes), dtype=np.int32),
            multiplicity=np.ones(len(sizes), dtype=np.int32),
        )

    @cached_property
    def fluent(self) -> list[int]:
        """The predicates that actions change, by their places in the vocabulary."""
        names = {predicate.get_name() for predicate in self.domain.pymimir.get_fluent_predicates()}
        return [number for number, predicate in enumerate(self.vocabulary) if predicate.name in names]

    def _row(self, atom: Sequence[str], number: dict[str, int]) -> Row:
        return (self.number[atom[0]], *[number[name] for name in atom[1:]])

    def _types(self, kind: str) -> tuple[str, ...]:
        """All types of an object that is declared with one of them, as pymimir sees it."""
        if not kind:
            return ()
        if kind not in self._types_of_kind:
            name = self.domain.pymimir.get_name()
            text = f"(define (problem p) (:domain {name}) (:objects o - {kind}) (:init) (:goal (and)))"
            facts = Instance(self.domain, text, "p").facts
            self._types_of_kind[kind] = tuple(known for known, arguments in facts if arguments == ("o",))
        return self._types_of_kind[kind]


def _described(scene: Scene, states: int) -> dict[str, Any]:
    return {
        "name": "",
        "pddl": "",
        "parameters": {},
        "objects": list(scene.objects),
        "states": states,
        "solvable": None,
        "exhaustive": True,
        "unlabelled": 0,
    }


def _integers(numbers: Sequence[int]) -> ArrayLike:
    return np.array(numbers, dtype=np.int64)
