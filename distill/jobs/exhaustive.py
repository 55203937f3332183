"""Exhaustive verification: a value function is checked in every state of every small instance."""

import atexit
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from distill.errors import InputError
from distill.jobs.aside import predicates_set_aside
from distill.jobs.judging import PROPERTIES, Judge, Record, Wrong
from distill.jobs.spaces import canonical, merged
from distill.logic import Number, from_json, to_json
from distill.planning import Domain, Instance, ProblemClass
from distill.planning.enumeration import Layouts, all_layouts, parameters_of
from distill.planning.scenes import Scene, Scenes
from distill.processes import process_pool

Progress = Callable[[str, int, int], None]
_AT_ONCE = 100  # scenes; fewer if that gives every process something to do
_WORTH_A_PROCESS = 1_000  # scenes: starting processes takes longer than checking fewer
_DIED = "A verifying process died, most likely for want of memory; verify fewer objects or use one worker."
Given = TypeVar("Given", Layouts, Scene)


@dataclass(frozen=True)
class Covered:
    """What was checked of the instances with some number of objects.

    Attributes
    ----------
    objects : how many.
    records : what was seen of each scene of instances; no two scenes are isomorphic.
    instances : initial states that were begun from, those of isomorphic scenes together.
    """

    objects: int
    records: Sequence[Record]
    instances: int

    def total(self, name: str) -> int:
        """The sum of a number of all records."""
        return sum(getattr(record, name) for record in self.records)

    @property
    def max_v_star(self) -> int:
        """The largest V*."""
        return max((record.max_v_star for record in self.records), default=0)

    @property
    def wrong(self) -> dict[str, int]:
        """For each property the number of states up to isomorphism in which it does not hold."""
        return {name: sum(record.wrong[name] for record in self.records) for name in PROPERTIES}


@dataclass(frozen=True, eq=False)
class Verification:
    """The outcome of an exhaustive verification.

    Attributes
    ----------
    scope : what was asked for: the class with its parameters and the largest number of objects, or files.
    scenes : how atoms are to be read.
    value, goal_marking : the value function.
    aside : predicates of which only atoms were looked at that the goal names.
    symmetry : whether isomorphic states were checked once.
    sizes : what was checked, by the number of objects.
    counterexample : the smallest state in which it is wrong; none if it is right in all.
    complete : whether all was checked; where a state is wrong, larger instances are left out.
    """

    scope: Mapping[str, Any]
    scenes: Scenes
    value: Number
    goal_marking: bool
    aside: Sequence[str]
    symmetry: bool
    sizes: Sequence[Covered]
    counterexample: Wrong | None
    complete: bool

    @property
    def holds(self) -> bool:
        """Whether the value function is right in all states that were asked for."""
        return self.counterexample is None and self.complete

    def total(self, name: str) -> int:
        """The sum of a number over all sizes."""
        return sum(size.total(name) for size in self.sizes)

    @property
    def wrong(self) -> dict[str, int]:
        """For each property the number of states up to isomorphism in which it does not hold."""
        return {name: sum(size.wrong[name] for size in self.sizes) for name in PROPERTIES}


@dataclass(frozen=True, eq=False)
class Verifier:
    """Checks a value function.

    Attributes
    ----------
    value : the value function.
    goal_marking : whether it speaks of achieved and missing goals.
    symmetry : whether isomorphic states are checked once.
    set_aside : whether atoms that cannot matter may be left out; see `distill.jobs.aside`.
    max_states : of the instances of a scene, up to isomorphism; more are refused.
    workers : the number of processes.
    progress : called with what is done, and the scenes done and to do.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> value = parse("2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)")
    >>> done = Verifier(value).problem(problem_class("blocks-clear"), 4)
    >>> done.holds, done.total("classes"), done.total("states")
    (True, 43, 154)
    """

    value: Number
    goal_marking: bool = False
    symmetry: bool = True
    set_aside: bool = True
    max_states: int = 1_000_000
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    progress: Progress = lambda what, done, total: None

    def problem(self, problem: ProblemClass, max_objects: int, *, go_on: bool = False) -> Verification:
        """Check all instances of a problem class with at most so many objects.

        Parameters
        ----------
        go_on : whether larger instances are checked too where smaller ones are wrong.
        """
        if max_objects < 1:
            raise InputError(f"There are no instances with {max_objects} objects; allow at least one.")
        scope = {
            "class": problem.name,
            "generator": problem.generator,
            "parameters": parameters_of(problem),
            "max_objects": max_objects,
        }
        # Listing the largest first would take long; a class that cannot be listed is refused here.
        sizes = ((n, lambda n=n: list(all_layouts(problem, n))) for n in range(1, max_objects + 1))
        return self._verified(scope, Scenes(problem.domain), sizes, go_on)

    def instances(self, instances: Sequence[Instance], *, go_on: bool = False) -> Verification:
        """Check all states that can be reached in some instances of one domain."""
        if not instances:
            raise InputError("There are no instances to verify; give some.")
        scope = {"instances": [instance.name for instance in instances]}
        absent = {name for one in instances for name, _, holds in one.goals if not holds}
        scenes = Scenes(instances[0].domain, absent)
        by_size: dict[int, list[Scene]] = {}
        for instance in instances:
            by_size.setdefault(len(instance.objects), []).append(scenes.of_instance(instance))
        sizes = ((n, lambda n=n: by_size[n]) for n in sorted(by_size))
        return self._verified(scope, scenes, sizes, go_on)

    def _verified(
        self,
        scope: Mapping[str, Any],
        scenes: Scenes,
        sizes: Iterator[tuple[int, Callable[[], Sequence[Any]]]],
        go_on: bool,
    ) -> Verification:
        aside = predicates_set_aside(scenes, self.value) if self.set_aside else []
        judge = Judge(scenes, self.value, self.goal_marking, aside, self.symmetry, self.max_states)
        covered = []
        found: list[Wrong] = []
        complete = True
        with contextlib.closing(_Work(judge, self.workers)) as work:
            for n, list_all in sizes:
                if found and not go_on:
                    complete = False
                    break
                self.progress(f"listing instances with {n} objects", 0, 1)
                given = self._distinct(work, list_all(), n)
                records, wrong = self._asked(work, given, n)
                if records:
                    instances = sum(len(set(scene.starts)) for scene in given)
                    covered.append(Covered(n, records, instances))
                found += wrong
        if not covered:
            raise InputError("There is no instance so small; allow more objects.")
        smallest = min(found, key=lambda one: one.rank, default=None)
        return Verification(
            scope, scenes, self.value, self.goal_marking, aside, self.symmetry, covered, smallest, complete
        )

    def _distinct(self, work: "_Work", given: Sequence[Layouts] | Sequence[Scene], n: int) -> list[Scene]:
        """The scenes, one of several isomorphic ones."""
        parts = work.spread(_prepared, given)
        found: list[Scene] = []
        for part in parts:
            found += part
            self.progress(f"comparing instances with {n} objects", len(found), len(given))
        # Without symmetry, only those that are the same name by name are one.
        return merged(found)

    def _asked(self, work: "_Work", given: Sequence[Scene], n: int) -> tuple[list[Record], list[Wrong]]:
        records: list[Record] = []
        found = []
        for part, wrong in work.spread(_asked, given):
            records += part
            found += [wrong] if wrong is not None else []
            self.progress(f"checking instances with {n} objects", len(records), len(given))
        return records, found


def _prepared(judge: Judge, given: Sequence[Any]) -> list[Scene]:
    scenes = judge.scenes
    made = [one if isinstance(one, Scene) else scenes.of_layouts(one) for one in given]
    return canonical(scenes, made) if judge.symmetry else made


def _asked(judge: Judge, given: Sequence[Scene]) -> tuple[list[Record], Wrong | None]:
    return judge.ask(given)


class _Work:
    """Gives parts of the work to processes, once there is enough of it."""

    def __init__(self, judge: Judge, workers: int) -> None:
        self._judge, self._workers = judge, workers
        self._stack = contextlib.ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        self._stack.close()

    def spread(self, task: Callable[[Judge, Sequence[Any]], Any], given: Sequence[Any]) -> Iterator[Any]:
        """What a task gives for each part, in order."""
        parts = [given[begin : begin + _AT_ONCE] for begin in range(0, len(given), _AT_ONCE)]
        if self._workers > 1 and len(given) >= _WORTH_A_PROCESS:
            yield from self._processes().map(_in_process, [task.__name__] * len(parts), parts)
        else:
            for part in parts:
                yield task(self._judge, part)

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:
            judge = self._judge
            plain = (
                (judge.scenes.domain.text, judge.scenes.domain.source),
                [p.base for p in judge.scenes.vocabulary if p.wants_absence],
                to_json(judge.value),
                (judge.goal_marking, tuple(judge.aside), judge.symmetry, judge.max_states),
            )
            self._pool = self._stack.enter_context(process_pool(self._workers, _DIED, _begin, *plain))
        return self._pool


_OWN: list[Judge] = []


def _begin(domain: tuple[str, str], absent: list[str], value: list[Any], rest: tuple[Any, ...]) -> None:
    """In a process: make the judge once."""
    made = from_json(value)
    if not isinstance(made, Number):
        raise TypeError("the value function is no number of states")
    # What pymimir made must be gone before its module is.
    atexit.register(_OWN.clear)
    _OWN[:] = [Judge(Scenes(Domain(*domain), absent), made, *rest)]


def _in_process(task: str, part: Sequence[Any]) -> Any:
    return {"_prepared": _prepared, "_asked": _asked}[task](_OWN[0], part)
