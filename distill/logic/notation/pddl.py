"""Formulas as derived predicates of PDDL."""

import itertools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from distill.common import InputError
from distill.logic import syntax as fo
from distill.logic.semantics.evaluation import Evaluator
from distill.structures import ACHIEVED, MISSING, Structures, Vocabulary

MOST = 4  # largest threshold: PDDL counts with one variable for each object, pairwise different
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TRUE = "(and)"
_LONG = 20_000  # characters of a part that gets a predicate of its own, as it would be copied into each whole


def write_derived(formula: fo.Node, vocabulary: Vocabulary, name: str = "formula") -> str:
    """Write a formula as axioms that can be pasted into a PDDL domain, before its actions.

    The derived predicate is `(name ?x)` for objects and `(name)` for states. Auxiliary predicates `name-1`,
    `name-2`, … stand for parts that are shared or inside modals, so the text grows linearly with the formula.
    Each refers to earlier ones, and closures also to themselves.

    Comments before the axioms list the additions to the domain's `:predicates`. Goals are not predicates in
    PDDL: if the formula contains some `p_G`, each goal atom has to be listed in `:init` under this name.
    `p_G,T` and `p_G,F` are written through `p_G` and `p`.

    PDDL has no numbers: counts can only be compared, with at most 4. Other numbers raise an error.

    Parameters
    ----------
    formula : about objects or about states.
    vocabulary : of the states.
    name : of the derived predicate.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Predicate
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> print(write_derived(parse("<on^-1+>clear"), words, "below"))
    ; Add to (:predicates ...): (below ?x) (below-1 ?x ?y)
    (:derived (below-1 ?x ?y)
      (or (on ?y ?x) (exists (?z) (and (on ?z ?x) (below-1 ?z ?y)))))
    (:derived (below ?x)
      (exists (?y) (and (below-1 ?x ?y) (clear ?y))))
    """
    if not isinstance(formula, fo.Truth):
        raise InputError(f"PDDL has no {formula.kind}, only true and false; compare a count: [#formula > 0].")
    nothing = Evaluator(Structures(vocabulary, 0, [], {}))
    nothing.holds(formula)  # raises an error for unknown names and wrong numbers of arguments
    _check_name(name, vocabulary)
    writer = _PddlWriter(nothing, name)
    uses = Counter(part for node in formula.walk() for part in node.parts)
    for node in formula.walk():
        if not isinstance(node, fo.Number):
            writer.texts[node] = _WRITERS[type(node)](writer, node)
            if uses[node] > 1 or len(writer.texts[node]) > _LONG:
                writer.short(node)
    writer.define(f"({name}{'' if formula.of_state else ' ?x'})", writer.texts[formula])
    return writer.written()


def _check_name(name: str, vocabulary: Vocabulary) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot be the name of a predicate in PDDL; choose one such as 'formula'.")
    own = re.compile(rf"{re.escape(name)}(-\d+)?", re.IGNORECASE)
    taken = next((p.name for p in vocabulary if own.fullmatch(p.name)), None)
    if taken:
        raise InputError(f"The domain has a predicate {taken} already; choose another name than {name}.")


class _PddlWriter:
    """Texts have the free variables ?x (objects), ?x and ?y (relations) or none (states)."""

    def __init__(self, known: Evaluator, name: str) -> None:
        self.known = known
        self.name = name
        self.texts: dict[fo.Node, str] = {}
        self.heads: list[str] = []
        self.axioms: list[str] = []
        self.goals: dict[str, str] = {}
        self.closures: dict[str, str] = {}  # the steps and their closure

    def define(self, head: str, condition: str) -> str:
        self.heads.append(head)
        self.axioms.append(f"(:derived {head}\n  {condition})")
        return head

    def new_head(self, variables: str) -> str:
        return f"({' '.join([f'{self.name}-{len(self.heads) + 1}', *variables.split()])})"

    def short(self, node: fo.Node) -> str:
        """The text as a literal; a longer text gets an auxiliary predicate."""
        if self.texts[node].count("(") > 2:
            of_state = isinstance(node, fo.Truth) and node.of_state
            variables = "?x ?y" if isinstance(node, _RELATIONS) else "" if of_state else "?x"
            self.texts[node] = self.define(self.new_head(variables), self.texts[node])
        return self.texts[node]

    def written(self) -> str:
        listed = [*reversed(self.heads), *self.goals.values()]
        lines = [f"; Add to (:predicates ...): {' '.join(listed)}"]
        if self.goals:
            lines.append(f"; Add to (:init ...) the atoms of the goal, called: {' '.join(self.goals)}")
        return "\n".join([*lines, *self.axioms])

    def atom(self, name: str, arguments: list[str]) -> str:
        predicate = self.known.predicate(name)
        if predicate.role == "type":
            return f"(exists (?t - {_checked(name)}) (= ?t {arguments[0]}))"
        if predicate.role == "constant":
            return f"(= {arguments[0]} {_checked(name.removeprefix('is_'))})"
        if predicate.role != "goal":
            return _applied(name, arguments)
        goal = name.partition(",")[0]
        if any(p.name.lower() == goal.lower() and p.role != "goal" for p in self.known.batch.vocabulary):
            raise InputError(f"PDDL would confuse {goal} with {goal.lower()}; rename this in the domain.")
        self.goals[goal] = _applied(goal, [f"?x{place}" for place in range(predicate.arity)])
        wanted = _applied(goal, arguments)
        if not name.endswith((ACHIEVED, MISSING)):
            return wanted
        asked = _applied(predicate.base, arguments)
        holds = name.endswith(ACHIEVED) != predicate.wants_absence
        return _and([wanted, asked if holds else _not(asked)])

    def object_atom(self, node: fo.Atom) -> str:
        [name] = node.fields
        return self.atom(name, ["?x"] * self.known.predicate(name).arity)

    def places(self, node: fo.Role) -> list[str]:
        """?x and ?y for source and target of the relation, ?z0, ?z1, … for other arguments."""
        name, source, target = node.fields
        arguments = [f"?z{place}" for place in range(self.known.predicate(name).arity)]
        arguments[source], arguments[target] = "?x", "?y"
        return arguments

    def role(self, node: fo.Role) -> str:
        arguments = self.places(node)
        return _exists([a for a in arguments if a[1] == "z"], self.atom(node.fields[0], arguments))

    def closure(self, node: fo.Closure) -> str:
        relation, reflexive = node.fields
        step = self.short(relation)
        if step not in self.closures:
            head = self.new_head("?x ?y")
            further = _and([_with(step, y="?z"), _with(head, x="?z")])
            self.closures[step] = self.define(head, f"(or {step} (exists (?z) {further}))")
        closed = self.closures[step]
        return f"(or (= ?x ?y) {closed})" if reflexive else closed

    def negation(self, node: fo.Node) -> str:
        return _not(self.texts[node.fields[0]])

    def conjunction(self, node: fo.Node) -> str:
        return _and([self.texts[part] for part in node.fields])

    def disjunction(self, node: fo.Node) -> str:
        return f"(or {' '.join(self.texts[part] for part in node.fields)})"

    def modal(self, node: fo.Modal) -> str:
        relation, operand, threshold = node.fields
        inside = _with(self.short(operand), x="?y")
        others: list[str] = []
        if isinstance(relation, fo.Role):  # atoms are counted, so their other arguments are distinguished too
            arguments = self.places(relation)
            others = [a for a in arguments if a[1] == "z"]
            related = self.atom(relation.fields[0], arguments)
        else:
            related = self.short(relation) if threshold else self.texts[relation]
        return _more_than(threshold, ["?y", *others], _and([related, inside]))

    def compare(self, node: fo.Compare) -> str:
        number, threshold = node.fields
        if not isinstance(number, fo.Count):
            raise InputError(f"PDDL has no {number.kind}; only a count can be compared: [#formula > 0].")
        return _more_than(threshold, ["?y"], _with(self.short(number.fields[0]), x="?y"))


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"PDDL cannot have the name {name!r}: after a letter only letters, digits, _ and - may come; "
            "rename this predicate in the domain."
        )
    return name


def _applied(name: str, arguments: list[str]) -> str:
    return f"({' '.join([_checked(name), *arguments])})"


def _with(text: str, **instead: str) -> str:
    """A text with ?x and ?y replaced by other variables."""
    return re.sub(r"\?([xy])(?![\w-])", lambda found: instead.get(found[1], found[0]), text)


def _not(text: str) -> str:
    return text[len("(not ") : -1] if text.startswith("(not ") else f"(not {text})"


def _and(texts: list[str]) -> str:
    lines = [text for text in texts if text != _TRUE]
    return lines[0] if len(lines) == 1 else f"({' '.join(['and', *lines])})"


def _exists(variables: list[str], text: str) -> str:
    # Parsers misread a quantified variable that does not occur.
    unused = [one for one in variables if not re.search(rf"{re.escape(one)}(?![\w-])", text)]
    inside = _and([*(f"(= {one} {one})" for one in unused), text]) if unused else text
    return f"(exists ({' '.join(variables)}) {inside})" if variables else text


def _more_than(threshold: int, variables: list[str], text: str) -> str:
    """The condition that more than `threshold` values of the variables satisfy the text."""
    if threshold > MOST:
        raise InputError(
            f"PDDL has no numbers, so that a threshold of {threshold} cannot be written, only up to {MOST}."
        )
    if not threshold:
        return _exists(variables, text)
    copies = [{variable: f"{variable}_{copy}" for variable in variables} for copy in range(threshold + 1)]
    pattern = re.compile(r"\?[yz]\d*(?![\w-])")
    lines = [pattern.sub(lambda found, own=own: own.get(found[0], found[0]), text) for own in copies]  # type: ignore[misc]
    for one, other in itertools.combinations(copies, 2):
        differ = [f"(not (= {one[variable]} {other[variable]}))" for variable in variables]
        lines.append(differ[0] if len(differ) == 1 else f"(or {' '.join(differ)})")
    return _exists([variable for own in copies for variable in own.values()], _and(lines))


_RELATIONS = (fo.Identity, fo.Everything, fo.Role, fo.RelationNot, fo.RelationAnd, fo.RelationOr, fo.Closure)
_WRITERS: dict[type[fo.Node], Callable[[_PddlWriter, Any], str]] = {
    fo.Identity: lambda w, node: "(= ?x ?y)",
    fo.Everything: lambda w, node: _TRUE,
    fo.Role: _PddlWriter.role,
    fo.RelationNot: _PddlWriter.negation,
    fo.RelationAnd: _PddlWriter.conjunction,
    fo.RelationOr: _PddlWriter.disjunction,
    fo.Closure: _PddlWriter.closure,
    fo.Top: lambda w, node: _TRUE,
    fo.Atom: _PddlWriter.object_atom,
    fo.Not: _PddlWriter.negation,
    fo.And: _PddlWriter.conjunction,
    fo.Or: _PddlWriter.disjunction,
    fo.Modal: _PddlWriter.modal,
    fo.Compare: _PddlWriter.compare,
}
