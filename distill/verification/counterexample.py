"""Counterexamples: a state in which a value function is wrong, with its atoms, successors and terms."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from distill.common import atomic_write
from distill.logic import Evaluator, weighted
from distill.planning import Instance, InstanceFamilies, successors
from distill.structures import DataSet, best_successors
from distill.verification.exhaustive import Verification
from distill.verification.properties import PROPERTIES, Violation, property_violations
from distill.verification.quotient_state_space import QuotientStateSpace


@dataclass(frozen=True)
class TermContribution:
    """A term of a value function in the wrong state, and in a neighbour in which the function is right.

    Attributes
    ----------
    weight, formula : the term.
    here, there : its contribution in either state; None if there is no such neighbour.
    """

    weight: float
    formula: str
    here: float
    there: float | None

    @property
    def differs(self) -> bool:
        """Whether its contribution differs between the two states."""
        return self.there is not None and self.there != self.here


@dataclass(frozen=True)
class RankedSuccessor:
    """A successor of the state: its action, its values, and whether its V is least."""

    action: str
    v_star: int
    value: float
    least: bool


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A state in which a value function is wrong.

    Attributes
    ----------
    done : the verification.
    wrong : the state.

    Examples
    --------
    >>> from distill.verification.exhaustive import Verifier
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> done = Verifier(parse("#<on+>clear_G")).problem(problem_class("blocks-clear"), 4)
    >>> found = Counterexample(done, done.counterexample)
    >>> found.atoms, found.goal, found.wrong.v_star, found.wrong.value
    (['(holding b1)'], ['(clear b1)'], 1, 0.0)
    >>> [(term.formula, term.here, term.there) for term in found.terms]
    [('#<on+>clear_G', 0.0, 0.0)]
    """

    done: Verification
    wrong: Violation

    @property
    def _families(self) -> InstanceFamilies:
        return self.done.checker.families

    @property
    def broken(self) -> list[str]:
        """The violated properties, as sentences."""
        return [PROPERTIES[name] for name in self.wrong.broken]

    @property
    def atoms(self) -> list[str]:
        """The atoms of the state with static facts, without goal and types."""
        families, family = self._families, self.wrong.family
        facts = [
            row for row in family.fixed if families.vocabulary.predicates[row[0]].role in ("state", "nullary")
        ]
        return families.atom_names([*self.wrong.state, *facts], family)

    @property
    def goal(self) -> list[str]:
        """The goal atoms."""
        return [
            f"({name} {' '.join(arguments)})" if holds else f"(not ({name} {' '.join(arguments)}))"
            for name, arguments, holds in self.instance.goals
        ]

    @cached_property
    def pddl(self) -> str:
        """The instance with this initial state, as PDDL."""
        return self._families.to_pddl(self.wrong.family, self.wrong.state, "counterexample")

    @cached_property
    def instance(self) -> Instance:
        """The instance with this initial state."""
        return Instance(self._families.domain, self.pddl, "counterexample", generated=True)

    @cached_property
    def _space(self) -> QuotientStateSpace:
        return self.done.checker.space(self.wrong.family)

    @cached_property
    def _place(self) -> int:
        """The state's class."""
        space = self._space
        return space.states.index(space.task.state(self.wrong.state))

    @cached_property
    def successors(self) -> list[RankedSuccessor]:
        """All successors, in alphabetical order of their actions."""
        checker, families = self.done.checker, self._families
        # As the initial state, the state has number 0.
        space = checker.space(replace(self.wrong.family, starts=(self.wrong.state,)))
        [value] = checker.values([space])
        number = {name: place for place, name in enumerate(self.wrong.family.objects)}
        found = []
        first = space.source == 0
        after = space.target[first]
        best = set(after[best_successors(value, space.source, space.target)[first]].tolist())
        by_atoms = dict(zip(space.task.successors(space.states[0]), after.tolist(), strict=True))
        steps = successors(self.instance, [self.instance.initial_state])
        for action, state in zip(steps.actions, steps.states, strict=True):
            atoms = self.instance.fluent_atoms(state)
            rows = [(families.number[name], *(number[x] for x in objects)) for name, objects in atoms]
            place = by_atoms[space.task.state(rows)]
            found.append(
                RankedSuccessor(action, int(space.v_star[place]), float(value[place]), place in best)
            )
        return found

    @cached_property
    def neighbour(self) -> int | None:
        """The class of a neighbour in which all properties hold, if there is one; successors first."""
        space = self._space
        [value] = self.done.checker.values([space])
        wrong = np.logical_or.reduce(list(property_violations(space, value).values()))
        beside = [*space.target[space.source == self._place], *space.source[space.target == self._place]]
        right = [int(one) for one in beside if not wrong[one] and space.v_star[one] >= 0]
        return right[0] if right else None

    @property
    def neighbour_atoms(self) -> list[str]:
        """The fluent atoms of the neighbour; empty if there is none."""
        if self.neighbour is None:
            return []
        task = self._space.task
        return self._families.atom_names(task.rows(self._space.states[self.neighbour]), self.wrong.family)

    @cached_property
    def terms(self) -> list[TermContribution]:
        """The contribution of each term, here and in the neighbour."""
        task = self._space.task
        shown = [task.rows(self._space.states[self._place])]
        if self.neighbour is not None:
            shown.append(task.rows(self._space.states[self.neighbour]))
        data = self._families.data([self.wrong.family], [shown])
        evaluator = Evaluator(data.structures(goal_marking=self.done.checker.goal_marking))
        found = []
        for weight, number in weighted(self.done.checker.value):
            adds = weight * evaluator.number(number).astype(np.float64) + 0.0  # no -0
            there = float(adds[1]) if len(adds) > 1 else None
            found.append(TermContribution(float(weight), str(number), float(adds[0]), there))
        return found

    @property
    def hint(self) -> str:
        """Which terms may be wrong, in a sentence."""
        if self.neighbour is None:
            return "No state one step away is right, so any term may err."
        v_star = int(self._space.v_star[self.neighbour])
        moved = sum(term.here - (term.there or 0.0) for term in self.terms)
        wanted = self.wrong.v_star - v_star
        changed = [term.formula for term in self.terms if term.differs]
        if self.wrong.v_star < 0:
            return "No goal can be reached from here, which no term says."
        if changed:
            who = f"The terms that differ from it are suspects: {'; '.join(changed)}."
        else:
            who = "No term differs from it, so one is missing, or one that should differ does not."
        return (
            f"A state one step away with V* = {v_star} is right; from there to here V* changes by "
            f"{wanted:+d}, V by {moved:+g}. {who}"
        )

    def to_json(self) -> dict[str, Any]:
        """The counterexample as plain data."""
        return {
            "objects": len(self.wrong.family.objects),
            "v_star": self.wrong.v_star,
            "value": self.wrong.value,
            "broken": list(self.wrong.broken),
            "atoms": self.atoms,
            "goal": self.goal,
            "successors": [asdict(one) for one in self.successors],
            "terms": [{**asdict(term), "differs": term.differs} for term in self.terms],
            "beside": self.neighbour_atoms,
            "hint": self.hint,
            "pddl": self.pddl,
        }

    def draw(self, path: Path) -> None:
        """Draw the state as a graph of objects into a file (.svg, .png, .pdf)."""
        from distill.logic import draw_state

        state = self.data.structures()
        title = f"V = {self.wrong.value:g}, but V* = {self.wrong.v_star}"
        names = list(self.wrong.family.objects)
        draw_state(path, state, names, np.zeros(state.n_objects, dtype=bool), title, " ".join(self.goal))

    def write(self, path: Path) -> None:
        """Write the instance as PDDL."""
        with atomic_write(path) as stream:
            stream.write(self.pddl.encode())

    @property
    def data(self) -> DataSet:
        """The state as a data set of one."""
        return self._families.data([self.wrong.family], [[self.wrong.state]])
