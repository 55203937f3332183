"""Formulas as features of dlplan, the description logic library for planning."""

import re
from collections.abc import Callable
from typing import Any

from distill.common import InputError
from distill.logic import syntax as fo
from distill.logic.notation.texts import Texts
from distill.logic.notation.writer import check_size
from distill.logic.semantics.evaluation import Evaluator
from distill.structures import ACHIEVED, GOAL, MISSING, Predicate, Structures, Vocabulary

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_GOAL = "_g"  # dlplan's own suffix of goal predicates


def write_dlplan(formula: fo.Node, vocabulary: Vocabulary | None = None) -> str:
    """Write a formula in the syntax of dlplan 0.3: a concept, a role, or a feature of states.

    Objects give a concept `c_…`, relations a role `r_…`, `#φ` and distances a numerical `n_…`, and what is
    true or false of a state (also as the number 0 or 1) a Boolean `b_…`. Predicates are called as in
    `dlplan_name`; `p_G,T` and `p_G,F` are written through `p_g` and `p`.

    The meaning is the same with two exceptions: a distance without a path is 0 here and 2147483647 in dlplan,
    and in a state without objects most Booleans of dlplan are true.

    dlplan has no thresholds above 0, no arithmetic, no concept for a nullary predicate (only
    `[#handempty > 0]` as a whole can be written), and no relation for the halves of a goal predicate of
    three and more arguments. All these raise an error.

    Parameters
    ----------
    formula : a formula, relation or feature.
    vocabulary : if given, names and numbers of arguments are checked; without it, every atom counts as unary.

    Examples
    --------
    >>> from distill.logic import parse
    >>> write_dlplan(parse("#<on^-1+>clear_G"))
    'n_count(c_some(r_transitive_closure(r_primitive(on,1,0)),c_primitive(clear_g,0)))'
    >>> write_dlplan(parse("~[#<on_G,F>top > 0]"))
    'b_empty(c_some(r_diff(r_primitive(on_g,0,1),r_primitive(on,0,1)),c_top))'
    """
    check_size(formula)
    writer = _DlplanWriter(vocabulary)
    if vocabulary is not None:
        _check(formula, vocabulary)
    if isinstance(formula, fo.Indicator):
        [formula] = formula.fields
    nullary = writer.nullary_alone(formula)
    if nullary:
        return f"b_nullary({nullary})"
    kept = Texts()
    for node in formula.walk():
        writer.texts[node] = kept.keep(_WRITERS[type(node)](writer, node))
    of_state = isinstance(formula, fo.Truth) and formula.of_state
    return kept.whole(writer.boolean(formula) if of_state else writer.texts[formula])


def dlplan_name(name: str) -> str:
    """The name of a predicate in dlplan: goal predicates end in `_g`, all others keep their names.

    A predicate whose own name ends in `_g` raises an error, so that names stay distinct.

    Examples
    --------
    >>> dlplan_name("at-robby"), dlplan_name("on_G")
    ('at-robby', 'on_g')
    """
    if name.endswith(_GOAL):
        raise InputError(f"dlplan would take {name} for a goal; rename this predicate in the domain.")
    if not _NAME.fullmatch(name):
        raise InputError(
            f"dlplan cannot read the name {name!r}: after a letter only letters, digits, _ and - may come; "
            "rename this predicate in the domain."
        )
    return name.removesuffix(GOAL) + _GOAL if name.endswith(GOAL) else name


def _check(formula: fo.Node, vocabulary: Vocabulary) -> None:
    """Evaluate on an empty batch, which finds unknown names and wrong numbers of arguments."""
    nothing = Evaluator(Structures(vocabulary, 0, [], {}))
    if isinstance(formula, fo.Relation):
        formula = fo.Modal(formula, fo.Top())
    if isinstance(formula, fo.Number):
        nothing.number(formula)
    elif isinstance(formula, fo.Truth):
        nothing.holds(formula)


class _DlplanWriter:
    def __init__(self, vocabulary: Vocabulary | None) -> None:
        self.known = Evaluator(Structures(vocabulary, 0, [], {})) if vocabulary else None
        self.texts: dict[fo.Node, str] = {}

    def arity(self, name: str, otherwise: int) -> int:
        return self.known.predicate(name).arity if self.known else otherwise

    def nullary_alone(self, formula: fo.Node) -> str | None:
        """The predicate of `[#handempty > 0]`."""
        if (
            isinstance(formula, fo.Compare)
            and formula.fields[1] == 0
            and isinstance(formula.fields[0], fo.Count)
        ):
            [counted] = formula.fields[0].fields
            if isinstance(counted, fo.Atom) and self.arity(counted.fields[0], 1) == 0:
                [name] = counted.fields
                return None if name.endswith((ACHIEVED, MISSING)) else dlplan_name(name)
        return None

    def atom(self, node: fo.Atom) -> str:
        [name] = node.fields
        if self.arity(name, 1) == 0:
            raise InputError(
                f"dlplan has no concept for {name}, which has no arguments; only [#{name} > 0] alone can be "
                "written."
            )
        return self.primitive("c", name, "0")

    def role(self, node: fo.Role) -> str:
        name, source, target = node.fields
        arity = self.arity(name, max(source, target) + 1)
        if arity > 2 and name.endswith((ACHIEVED, MISSING)):
            raise InputError(f"dlplan cannot write the two halves of a goal with {arity} arguments: {node}.")
        return self.primitive("r", name, f"{source},{target}")

    def primitive(self, kind: str, name: str, places: str) -> str:
        """A predicate; achieved and missing goals are written with the goal and the predicate itself."""
        if not name.endswith((ACHIEVED, MISSING)):
            return f"{kind}_primitive({dlplan_name(name)},{places})"
        goal = Predicate(name, 0, "goal")
        wanted, asked = (
            f"{kind}_primitive({dlplan_name(one)},{places})" for one in (name.partition(",")[0], goal.base)
        )
        holds = name.endswith(ACHIEVED) != goal.wants_absence
        return f"{kind}_{'and' if holds else 'diff'}({wanted},{asked})"

    def joined(self, node: fo.Node, operation: str) -> str:
        """Operands joined in pairs."""
        first, *others = (self.texts[part] for part in node.parts)
        return f"{operation}(" * len(others) + first + "".join(f",{other})" for other in others)

    def closure(self, node: fo.Closure) -> str:
        steps, reflexive = node.fields
        return f"r_transitive_{'reflexive_' if reflexive else ''}closure({self.texts[steps]})"

    def modal(self, node: fo.Modal) -> str:
        relation, operand, threshold = node.fields
        _refuse_threshold("a modal", threshold)
        return f"c_some({self.texts[relation]},{self.texts[operand]})"

    def compare(self, node: fo.Compare) -> str:
        """A comparison as a concept of all objects of a state or of none, so that it can be joined."""
        number, threshold = node.fields
        if not isinstance(number, fo.Count):
            raise InputError("dlplan compares no numbers; only [#formula > 0] can be written.")
        _refuse_threshold("a comparison", threshold)
        return f"c_some(r_top,{self.texts[number.fields[0]]})"

    def boolean(self, formula: fo.Node) -> str:
        if not isinstance(formula, fo.Not):
            return f"b_empty(c_not({self.texts[formula]}))"
        [denied] = formula.fields
        if isinstance(denied, fo.Compare):
            denied = denied.fields[0].fields[0]
        return f"b_empty({self.texts[denied]})"

    def distance(self, node: fo.Distance) -> str:
        return f"n_concept_distance({','.join(self.texts[part] for part in node.parts)})"

    def arithmetic(self, node: fo.Node) -> str:
        raise InputError(
            f"dlplan features have no {node.kind}; write each feature of weighted(formula) on its own."
        )


def _refuse_threshold(what: str, threshold: int) -> None:
    if threshold:
        raise InputError(
            f"dlplan cannot count up to a threshold: {what} with > {threshold} cannot be written."
        )


_WRITERS: dict[type[fo.Node], Callable[[_DlplanWriter, Any], str]] = {
    fo.Identity: lambda w, node: "r_identity(c_top)",
    fo.Everything: lambda w, node: "r_top",
    fo.Role: _DlplanWriter.role,
    fo.RelationNot: lambda w, node: f"r_not({w.texts[node.fields[0]]})",
    fo.RelationAnd: lambda w, node: w.joined(node, "r_and"),
    fo.RelationOr: lambda w, node: w.joined(node, "r_or"),
    fo.Closure: _DlplanWriter.closure,
    fo.Top: lambda w, node: "c_top",
    fo.Atom: _DlplanWriter.atom,
    fo.Not: lambda w, node: "c_bot" if node is fo.BOTTOM else f"c_not({w.texts[node.fields[0]]})",
    fo.And: lambda w, node: w.joined(node, "c_and"),
    fo.Or: lambda w, node: w.joined(node, "c_or"),
    fo.Modal: _DlplanWriter.modal,
    fo.Count: lambda w, node: f"n_count({w.texts[node.fields[0]]})",
    fo.Compare: _DlplanWriter.compare,
    fo.Distance: _DlplanWriter.distance,
    **dict.fromkeys((fo.Indicator, fo.Constant, fo.Scaled, fo.Sum, fo.Product), _DlplanWriter.arithmetic),
}
