"""The smallest state in which a value function is wrong, laid open: its atoms, its successors, every term."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from distill.errors import InputError
from distill.jobs.exhaustive import Verification
from distill.jobs.judging import PROPERTIES, Judge, Wrong, broken_in
from distill.jobs.spaces import Space
from distill.logic import Evaluator, weighted
from distill.planning import DataSet, Instance


@dataclass(frozen=True)
class Term:
    """A term of a value function in a state that is wrong, and in one beside it that is right.

    Attributes
    ----------
    weight, formula : the term.
    here, there : what it adds in either state; none if no state beside it is right.
    """

    weight: float
    formula: str
    here: float
    there: float | None

    @property
    def differs(self) -> bool:
        """Whether it adds something else in the state that is right."""
        return self.there is not None and self.there != self.here


@dataclass(frozen=True)
class Successor:
    """A step from the state: the action, and what is said of where it leads."""

    action: str
    v_star: int
    value: float
    least: bool


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A state in which a value function is wrong.

    Attributes
    ----------
    done : the verification that found it.
    wrong : the state.

    Examples
    --------
    >>> from distill.jobs.exhaustive import Verifier
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
    wrong: Wrong

    @property
    def broken(self) -> list[str]:
        """What should hold."""
        return [PROPERTIES[name] for name in self.wrong.broken]

    @property
    def atoms(self) -> list[str]:
        """The atoms of the state, static facts included, goal and types not."""
        scenes, scene = self.done.scenes, self.wrong.scene
        facts = [
            row for row in scene.fixed if scenes.vocabulary.predicates[row[0]].role in ("state", "nullary")
        ]
        return scenes.written([*self.wrong.state, *facts], scene)

    @property
    def goal(self) -> list[str]:
        """What shall hold."""
        return [
            f"({name} {' '.join(arguments)})" if holds else f"(not ({name} {' '.join(arguments)}))"
            for name, arguments, holds in self.instance.goals
        ]

    @cached_property
    def pddl(self) -> str:
        """The instance that begins in this state."""
        return self.done.scenes.to_pddl(self.wrong.scene, self.wrong.state, "counterexample")

    @cached_property
    def instance(self) -> Instance:
        """The instance that begins in this state."""
        return Instance(self.done.scenes.domain, self.pddl, "counterexample")

    @cached_property
    def _judge(self) -> Judge:
        done = self.done
        return Judge(done.scenes, done.value, done.goal_marking, done.aside, done.symmetry)

    @cached_property
    def _space(self) -> Space:
        return self._judge.space(self.wrong.scene)

    @cached_property
    def _place(self) -> int:
        """The state's class."""
        space = self._space
        return space.states.index(space.task.state(self.wrong.state))

    @cached_property
    def successors(self) -> list[Successor]:
        """All steps, the action's name first in the alphabet first."""
        # Beginning in the state, it is the first that is found.
        scenes, space = (
            self.done.scenes,
            self._judge.space(replace(self.wrong.scene, starts=(self.wrong.state,))),
        )
        [value] = self._judge.values([space])
        number = {name: place for place, name in enumerate(self.wrong.scene.objects)}
        found = []
        after = space.target[space.source == 0]
        least = value[after].min() if len(after) else 0.0
        by_atoms = dict(zip(space.task.successors(space.states[0]), after.tolist(), strict=True))
        for action, state in sorted(
            self.instance.successors(self.instance.initial_state), key=lambda s: s[0]
        ):
            atoms = self.instance.fluent_atoms(state)
            rows = [(scenes.number[name], *(number[x] for x in objects)) for name, objects in atoms]
            place = by_atoms[space.task.state(rows)]
            own = float(value[place])
            found.append(Successor(action, int(space.v_star[place]), own, bool(own <= least + 1e-6)))
        return found

    @cached_property
    def neighbour(self) -> int | None:
        """The class of a state one step away in which all is right, if there is one; successors first."""
        space = self._space
        [value] = self._judge.values([space])
        wrong = np.logical_or.reduce(list(broken_in(space, value).values()))
        beside = [*space.target[space.source == self._place], *space.source[space.target == self._place]]
        right = [int(one) for one in beside if not wrong[one] and space.v_star[one] >= 0]
        return right[0] if right else None

    @property
    def neighbour_atoms(self) -> list[str]:
        """The atoms of that state that can change; none if there is no such state."""
        if self.neighbour is None:
            return []
        task = self._space.task
        return self.done.scenes.written(task.rows(self._space.states[self.neighbour]), self.wrong.scene)

    @cached_property
    def terms(self) -> list[Term]:
        """What each term adds, here and in the state beside it."""
        task = self._space.task
        shown = [task.rows(self._space.states[self._place])]
        if self.neighbour is not None:
            shown.append(task.rows(self._space.states[self.neighbour]))
        data = self.done.scenes.data([self.wrong.scene], [shown])
        evaluator = Evaluator(data.structures(goal_marking=self.done.goal_marking))
        found = []
        for weight, number in weighted(self.done.value):
            adds = weight * evaluator.number(number).astype(np.float64) + 0.0  # no -0
            there = float(adds[1]) if len(adds) > 1 else None
            found.append(Term(float(weight), str(number), float(adds[0]), there))
        return found

    @property
    def hint(self) -> str:
        """In a sentence, where to look."""
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
        """All of it as plain data."""
        return {
            "objects": len(self.wrong.scene.objects),
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
        from distill.logic.figures import draw_state

        state = self.data.structures()
        title = f"V = {self.wrong.value:g}, but V* = {self.wrong.v_star}"
        names = list(self.wrong.scene.objects)
        draw_state(path, state, names, np.zeros(state.n_objects, dtype=bool), title, " ".join(self.goal))

    def write(self, path: Path) -> None:
        """Write the instance as PDDL."""
        try:
            path.write_text(self.pddl)
        except OSError as error:
            raise InputError(f"Cannot write {path}: {error.strerror or error}.") from error

    @property
    def data(self) -> DataSet:
        """The state as a data set of one."""
        return self.done.scenes.data([self.wrong.scene], [[self.wrong.state]])
