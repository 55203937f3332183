"""Exhaustive verification: a value function is checked in every state of every small instance."""

import atexit
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from distill.common import InputError, process_pool
from distill.logic import Number, from_json, to_json
from distill.planning import (
    Domain,
    Instance,
    InstanceFamilies,
    InstanceFamily,
    Layouts,
    ProblemClass,
    all_layouts,
    parameters_of,
)
from distill.verification.irrelevant_predicates import find_irrelevant_predicates
from distill.verification.properties import PROPERTIES, PropertyChecker, Record, Violation
from distill.verification.quotient_state_space import canonicalise, merge_equal

Progress = Callable[[str, int, int], None]
_AT_ONCE = 100  # instance families in a part
_WORTH_A_PROCESS = 1_000  # instance families: starting processes takes longer than checking fewer
_DIED = "A process died, most likely for lack of memory; verify fewer objects or use one worker."
Given = TypeVar("Given", Layouts, InstanceFamily)


@dataclass(frozen=True)
class SizeCoverage:
    """The result for all instances with one number of objects.

    Attributes
    ----------
    objects : their number.
    records : the result for each instance family; no two families are isomorphic.
    instances : number of initial states, with those of isomorphic families merged.
    """

    objects: int
    records: Sequence[Record]
    instances: int

    def total(self, name: str) -> int:
        """The sum of an attribute over all records."""
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
    """The result of an exhaustive verification.

    Attributes
    ----------
    scope : the class with its parameters and the largest number of objects, or names of instances.
    checker : the value function, and how its states were checked.
    sizes : the results, by the number of objects.
    counterexample : the smallest state in which it is wrong; None if it is right in all.
    complete : whether all instances were checked; larger ones are skipped after a wrong state.
    """

    scope: Mapping[str, Any]
    checker: PropertyChecker
    sizes: Sequence[SizeCoverage]
    counterexample: Violation | None
    complete: bool

    @property
    def holds(self) -> bool:
        """Whether the value function is right in all states of the scope."""
        return self.counterexample is None and self.complete

    def total(self, name: str) -> int:
        """The sum of an attribute over all sizes."""
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
    goal_marking : whether it refers to achieved and missing goals.
    symmetry : whether isomorphic states are checked once.
    ignore_irrelevant : whether irrelevant atoms are ignored; see `find_irrelevant_predicates`.
    max_states : largest number of states of an instance family, up to isomorphism.
    workers : the number of processes.
    progress : called with the current step, and the numbers of families done and in total.

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
    ignore_irrelevant: bool = True
    max_states: int = 1_000_000
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    progress: Progress = lambda what, done, total: None

    def problem(self, problem: ProblemClass, max_objects: int, *, go_on: bool = False) -> Verification:
        """Check all instances of a problem class with at most `max_objects` objects.

        Parameters
        ----------
        go_on : whether larger instances are checked although the function is wrong in a smaller one.
        """
        if max_objects < 1:
            raise InputError(f"There are no instances with {max_objects} objects; allow at least one.")
        scope = {
            "class": problem.name,
            "generator": problem.generator,
            "parameters": parameters_of(problem),
            "max_objects": max_objects,
        }
        # Instances are listed size by size, as listing the largest takes long.
        sizes = ((n, lambda n=n: list(all_layouts(problem, n))) for n in range(1, max_objects + 1))
        return self._verified(scope, InstanceFamilies(problem.domain), sizes, go_on)

    def instances(self, instances: Sequence[Instance], *, go_on: bool = False) -> Verification:
        """Check all reachable states of some instances of one domain."""
        if not instances:
            raise InputError("There are no instances to verify; give some.")
        scope = {"instances": [instance.name for instance in instances]}
        absent = {name for one in instances for name, _, holds in one.goals if not holds}
        families = InstanceFamilies(instances[0].domain, absent)
        by_size: dict[int, list[InstanceFamily]] = {}
        for instance in instances:
            by_size.setdefault(len(instance.objects), []).append(families.of_instance(instance))
        sizes = ((n, lambda n=n: by_size[n]) for n in sorted(by_size))
        return self._verified(scope, families, sizes, go_on)

    def _verified(
        self,
        scope: Mapping[str, Any],
        families: InstanceFamilies,
        sizes: Iterator[tuple[int, Callable[[], Sequence[Any]]]],
        go_on: bool,
    ) -> Verification:
        ignored = find_irrelevant_predicates(families, self.value) if self.ignore_irrelevant else []
        checker = PropertyChecker(
            families, self.value, self.goal_marking, ignored, self.symmetry, self.max_states
        )
        covered = []
        found: list[Violation] = []
        complete = True
        with contextlib.closing(_Work(checker, self.workers)) as work:
            for n, list_all in sizes:
                if found and not go_on:
                    complete = False
                    break
                self.progress(f"listing instances with {n} objects", 0, 1)
                given = self._distinct(work, list_all(), n)
                records, wrong = self._checked(work, given, n)
                if records:
                    instances = sum(len(set(family.starts)) for family in given)
                    covered.append(SizeCoverage(n, records, instances))
                found += wrong
        if not covered:
            raise InputError("No instance has so few objects; allow more.")
        smallest = min(found, key=lambda one: one.rank, default=None)
        return Verification(scope, checker, covered, smallest, complete)

    def _distinct(
        self, work: "_Work", given: Sequence[Layouts] | Sequence[InstanceFamily], n: int
    ) -> list[InstanceFamily]:
        """The instance families, one of each isomorphism class."""
        found: list[InstanceFamily] = []
        for part in work.spread(_prepared, given):
            found += part
            self.progress(f"comparing instances with {n} objects", len(found), len(given))
        # Without symmetry, only identical families are merged.
        return merge_equal(found)

    def _checked(
        self, work: "_Work", given: Sequence[InstanceFamily], n: int
    ) -> tuple[list[Record], list[Violation]]:
        records: list[Record] = []
        found = []
        for part, wrong in work.spread(_checked, given):
            records += part
            found += [wrong] if wrong is not None else []
            self.progress(f"checking instances with {n} objects", len(records), len(given))
        return records, found


def _prepared(checker: PropertyChecker, given: Sequence[Any]) -> list[InstanceFamily]:
    families = checker.families
    made = [one if isinstance(one, InstanceFamily) else families.of_layouts(one) for one in given]
    return canonicalise(families, made) if checker.symmetry else made


def _checked(
    checker: PropertyChecker, given: Sequence[InstanceFamily]
) -> tuple[list[Record], Violation | None]:
    return checker.check(given)


class _Work:
    """Distributes work over processes if there is enough of it."""

    def __init__(self, checker: PropertyChecker, workers: int) -> None:
        self._checker, self._workers = checker, workers
        self._stack = contextlib.ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        self._stack.close()

    def spread(
        self, task: Callable[[PropertyChecker, Sequence[Any]], Any], given: Sequence[Any]
    ) -> Iterator[Any]:
        """The results of a task for each part, in order."""
        parts = [given[begin : begin + _AT_ONCE] for begin in range(0, len(given), _AT_ONCE)]
        if self._workers > 1 and len(given) >= _WORTH_A_PROCESS:
            yield from self._processes().map(_in_process, [task.__name__] * len(parts), parts)
        else:
            for part in parts:
                yield task(self._checker, part)

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:
            checker = self._checker
            plain = (
                (checker.families.domain.text, checker.families.domain.source),
                [p.base for p in checker.families.vocabulary if p.wants_absence],
                to_json(checker.value),
                (
                    checker.goal_marking,
                    tuple(checker.irrelevant_predicates),
                    checker.symmetry,
                    checker.max_states,
                ),
            )
            self._pool = self._stack.enter_context(process_pool(self._workers, _DIED, _begin, *plain))
        return self._pool


_OWN: list[PropertyChecker] = []


def _begin(domain: tuple[str, str], absent: list[str], value: list[Any], rest: tuple[Any, ...]) -> None:
    """Make the checker of a worker process."""
    made = from_json(value)
    if not isinstance(made, Number):
        raise TypeError("the value function is no number of states")
    # Objects of pymimir must be deleted before its module is unloaded.
    atexit.register(_OWN.clear)
    _OWN[:] = [PropertyChecker(InstanceFamilies(Domain(*domain), absent), made, *rest)]


def _in_process(task: str, part: Sequence[Any]) -> Any:
    return {"_prepared": _prepared, "_checked": _checked}[task](_OWN[0], part)
