"""States and V* of a PDDL task, computed without pymimir: Fast Downward's translator grounds it.

The translator reads, normalises and grounds the PDDL. The search over its ground actions and axioms is here.
"""

import contextlib
import importlib.util
import io
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

Label = int
DEAD_END = -1


class RefusedError(Exception):
    """Fast Downward does not read this PDDL."""


class TooLargeError(Exception):
    """There are more states than asked for."""


def translator() -> ModuleType | None:
    """Fast Downward's translator as a package; None if it is not installed."""
    package = importlib.util.find_spec("up_fast_downward")
    if package is None or not package.submodule_search_locations:
        return None
    place = Path(package.submodule_search_locations[0], "downward", "builds", "release", "bin")
    if not (place / "fast_downward" / "translate").is_dir():
        return None
    if str(place) not in sys.path:
        sys.path.append(str(place))
    from fast_downward.translate import main, options

    options.set_options(["domain", "problem", "--keep-no-ops"])
    return main


def labels(domain: str, problem: str, most: int = 20_000) -> Counter[Label]:
    """How many reachable states have which V*; -1 stands for a dead end.

    Parameters
    ----------
    most : a task with more states raises `TooLargeError`.
    """
    main = translator()
    assert main is not None
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            task = _task(domain, problem)
            main.normalize.normalize(task)
            _, _, actions, goal, axioms, _ = main.instantiate.explore(task)
            axioms, layers = main.axiom_rules.handle_axioms(actions, axioms, goal or [], "min")
        except SystemExit as error:
            raise RefusedError(str(error)) from error
        except Exception as error:
            raise RefusedError(repr(error)) from error
    return _search(task, actions, goal, axioms, layers, most)


def _task(domain: str, problem: str) -> Any:
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    parsed = [lisp_parser.parse_nested_list(text.splitlines(keepends=True)) for text in (domain, problem)]
    return parsing_functions.parse_task(*parsed)


def _search(  # noqa: C901
    task: Any, actions: Any, goal: Any, axioms: Any, layers: Any, most: int
) -> Counter[Label]:
    number: dict[Any, int] = {}

    def bits(literals: Any) -> tuple[int, int]:
        holds = fails = 0
        for one in literals:
            bit = 1 << number.setdefault((one.predicate, one.args), len(number))
            holds, fails = (holds, fails | bit) if one.negated else (holds | bit, fails)
        return holds, fails

    steps = [
        (
            bits(action.precondition),
            [(bits(condition), bits([atom])[0]) for condition, atom in action.add_effects],
            [(bits(condition), bits([atom])[0]) for condition, atom in action.del_effects],
        )
        for action in actions
    ]
    rules: dict[int, list[tuple[tuple[int, int], int]]] = {}
    for axiom in axioms:
        rules.setdefault(layers[axiom.effect], []).append((bits(axiom.condition), bits([axiom.effect])[0]))
    wanted = None if goal is None else bits(goal)
    start = bits([one for one in task.init if hasattr(one, "predicate")])[0]

    def complete(state: int) -> int:
        for layer in sorted(rules):
            before = -1
            while before != state:
                before = state
                for condition, head in rules[layer]:
                    if _holds(condition, state):
                        state |= head
        return state

    found = {start: 0}
    before: list[list[int]] = [[]]
    goals, todo = [], [start]
    for state in todo:
        full = complete(state)
        if wanted is not None and _holds(wanted, full):
            goals.append(found[state])
        for condition, adds, deletes in steps:
            if not _holds(condition, full):
                continue
            lost = sum({atom for needs, atom in deletes if _holds(needs, full)})
            after = (state & ~lost) | sum({atom for needs, atom in adds if _holds(needs, full)})
            if after not in found:
                found[after] = len(found)
                before.append([])
                todo.append(after)
            before[found[after]].append(found[state])
        if len(found) > most:
            raise TooLargeError
    value = _distances(goals, before)
    return Counter(value.get(one, DEAD_END) for one in range(len(found)))


def _distances(goals: list[int], before: list[list[int]]) -> dict[int, int]:
    """The least number of steps to a goal, for each state from which there is a way."""
    value = dict.fromkeys(goals, 0)
    backwards = list(value)
    for at in backwards:
        for one in before[at]:
            if one not in value:
                value[one] = value[at] + 1
                backwards.append(one)
    return value


def _holds(condition: tuple[int, int], state: int) -> bool:
    return state & condition[0] == condition[0] and not state & condition[1]
