"""Formulas as Python source code that depends on numpy only."""

import builtins
import json
import keyword
from collections.abc import Callable
from typing import Any

from distill.common import InputError
from distill.logic import syntax as fo
from distill.logic.notation.writer import LARGEST, write


def write_python(formula: fo.Node, name: str = "formula") -> str:
    """Write a formula as a Python module with one function, which depends on numpy only.

    The function takes the number of objects of one state and its atoms: for each predicate the tuples of
    object numbers, as in `{"on": [(0, 1)], "clear": [(0,)], "handempty": [()]}`; predicates without atoms may
    be left out, and `p_G` is the union of `p_G,T` and `p_G,F` if these are given. It returns a Boolean array
    over objects, a truth value of the state, or a number. Every part is computed once, on its own line.
    Relations are matrices, so memory grows with the square of the number of objects.

    Parameters
    ----------
    formula : about objects or states; not a relation.
    name : of the function.

    Examples
    --------
    >>> from distill.logic import parse
    >>> module = {}
    >>> exec(write_python(parse("<on>clear"), "below_clear"), module)
    >>> module["below_clear"](2, {"on": [(1, 0)], "clear": [(0,)]})
    array([False,  True])
    """
    taken = keyword.iskeyword(name) or hasattr(builtins, name) or name in ("np", "n_objects", "atoms")
    if taken or not name.isidentifier() or name.startswith("_"):
        raise InputError(f"{name!r} cannot be the name of the function; choose one such as 'formula'.")
    if isinstance(formula, fo.Relation):
        raise InputError("A relation alone holds of no object; write <relation>top.")
    variables: dict[fo.Node, str] = {}
    lines: list[str] = []
    helpers: set[str] = set()
    for node in formula.walk():
        variables[node] = f"v{len(variables)}"
        parts = [variables[part] for part in node.parts]
        of_state = isinstance(node, fo.Number) or (isinstance(node, fo.Truth) and node.of_state)
        value = (_OF_STATES if of_state else _WRITERS)[type(node)](node, parts)
        helpers |= {helper for helper in _HELPERS if helper in value}
        lines.append(f"    {variables[node]} = {value}")
    if helpers & {"_holds(", "_pairs("}:
        helpers.add("_rows(")
    kept = [source for helper, source in _HELPERS.items() if helper in helpers]
    if isinstance(formula, fo.Number):
        what, kind = "The number of a state", "float"
    elif isinstance(formula, fo.Truth) and formula.of_state:
        what, kind = "Whether a state has this", "bool"
    else:
        what, kind = "Which objects have this", "np.ndarray"
    shown = write(formula) if formula.size <= LARGEST else f"a formula of {formula.size} symbols"
    head = [
        f"def {name}(n_objects: int, atoms: dict) -> {kind}:",
        # Names may contain quotation marks and backslashes.
        f'    """{what}: {json.dumps(shown, ensure_ascii=False)[1:-1]}"""',
    ]
    main = "\n".join([*head, *lines, f"    return {variables[formula]}\n"])
    return "\n\n\n".join(["import numpy as np", *kept, main])


_HELPERS = {
    "_rows(": '''def _rows(atoms, name):
    """The atoms of a predicate, each once; those of a goal may be given in two halves."""
    return {tuple(row) for own in (name, name + ",T", name + ",F") for row in atoms.get(own, ())}''',
    "_holds(": '''def _holds(n_objects, atoms, name):
    """Which objects have a unary predicate: all or none if it has no arguments."""
    holds = np.zeros(n_objects, dtype=bool)
    for row in _rows(atoms, name):
        holds[row] = True
    return holds''',
    "_pairs(": '''def _pairs(n_objects, atoms, name, source, target):
    """How many atoms lead from one object (row) to another (column)."""
    pairs = np.zeros((n_objects, n_objects), dtype=np.int64)
    for row in _rows(atoms, name):
        pairs[row[source], row[target]] += 1
    return pairs''',
    "_closure(": '''def _closure(steps, reflexive):
    """One or more steps; none as well if reflexive."""
    found = steps > 0
    while True:
        more = found | (found @ found)
        if (more == found).all():
            break
        found = more
    return (found | np.eye(len(steps), dtype=bool) if reflexive else found).astype(np.int64)''',
    "_distance(": '''def _distance(first, steps, last):
    """The least number of steps from one set to another; 0 if there is no way."""
    reached, frontier, distance = first, first, 0
    while frontier.any():
        if (frontier & last).any():
            return distance
        frontier = ((frontier.astype(np.int64) @ steps) > 0) & ~reached
        reached = reached | frontier
        distance += 1
    return 0''',
}


# Lists instead of operators limit the nesting for thousands of operands.


def _related(parts: list[str], joined: str) -> str:
    positive = ", ".join(f"{part} > 0" for part in parts)
    return f"np.{joined}([{positive}], axis=0).astype(np.int64)"


def _product(node: fo.Product, parts: str) -> str:
    """A product of integers that cannot overflow: two of at most the number of objects fit into 64 bits."""
    small = len(node.fields) == 2 and all(
        isinstance(part, fo.Count | fo.Indicator | fo.Distance) for part in node.fields
    )
    return f"np.prod([{parts}]).item()" if small else f"np.prod([{parts}], dtype=object)"


_WRITERS: dict[type[fo.Node], Callable[[Any, list[str]], str]] = {
    fo.Identity: lambda node, parts: "np.eye(n_objects, dtype=np.int64)",
    fo.Everything: lambda node, parts: "np.ones((n_objects, n_objects), dtype=np.int64)",
    fo.Role: lambda node, parts: "_pairs(n_objects, atoms, {!r}, {}, {})".format(*node.fields),
    fo.RelationNot: lambda node, parts: f"({parts[0]} == 0).astype(np.int64)",
    fo.RelationAnd: lambda node, parts: _related(parts, "all"),
    fo.RelationOr: lambda node, parts: _related(parts, "any"),
    fo.Closure: lambda node, parts: f"_closure({parts[0]}, {node.fields[1]})",
    fo.Top: lambda node, parts: "np.ones(n_objects, dtype=bool)",
    fo.Atom: lambda node, parts: f"_holds(n_objects, atoms, {node.fields[0]!r})",
    fo.Not: lambda node, parts: f"~{parts[0]}",
    fo.And: lambda node, parts: f"np.all([{', '.join(parts)}], axis=0)",
    fo.Or: lambda node, parts: f"np.any([{', '.join(parts)}], axis=0)",
    fo.Modal: lambda node, parts: f"{parts[0]} @ {parts[1]} > {node.fields[2]}",
}
_OF_STATES: dict[type[fo.Node], Callable[[Any, list[str]], str]] = {
    fo.Not: lambda node, parts: f"not {parts[0]}",
    fo.And: lambda node, parts: f"all([{', '.join(parts)}])",
    fo.Or: lambda node, parts: f"any([{', '.join(parts)}])",
    fo.Count: lambda node, parts: f"int({parts[0]}.sum())",
    fo.Compare: lambda node, parts: f"{parts[0]} > {node.fields[1]}",
    fo.Indicator: lambda node, parts: f"int({parts[0]})",
    fo.Constant: lambda node, parts: repr(node.fields[0]),
    fo.Scaled: lambda node, parts: f"{node.fields[0]!r} * {parts[0]}",
    fo.Sum: lambda node, parts: f"sum([{', '.join(parts)}])",
    fo.Product: lambda node, parts: _product(node, ", ".join(parts)),
    fo.Distance: lambda node, parts: f"_distance({', '.join(parts)})",
}
