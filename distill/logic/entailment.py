"""Which formulas follow from which: a quick test by their form, never wrong, but not all-seeing."""

from functools import lru_cache

from distill.logic.features import Compare, Constant, Count
from distill.logic.formulas import BOTTOM, And, Modal, Not, Or, Top, Truth
from distill.logic.nodes import Node
from distill.logic.relations import (
    Closure,
    Everything,
    Identity,
    Relation,
    RelationAnd,
    RelationNot,
    RelationOr,
    Role,
)

TOP, ALL = Top(), Everything()
NOTHING = RelationNot(ALL)
# Of states there is no ⊤; these are the smallest comparisons that always and never hold.
TRUE, FALSE = Compare(Constant(1), 0), Compare(Constant(0), 0)

ANDS, ORS, NOTS = (And, RelationAnd), (Or, RelationOr), (Not, RelationNot)
_COMPLEMENTS: dict[Node, Node] = {TRUE: FALSE, FALSE: TRUE}
_ALWAYS = (TOP, ALL, TRUE)
_LEVELS = 6  # how far into the formulas the test looks
_EFFORT = 25  # and how many of their parts it compares
_WIDE = 8  # of more operands only those are seen that are the very same


def constant(value: bool, like: Node) -> Node:
    """What always or never holds, of the same things as `like`.

    Examples
    --------
    >>> from distill.logic import parse
    >>> constant(False, parse("clear")), constant(True, parse("[#clear > 0]"))
    (bot, [1 > 0])
    """
    if isinstance(like, Relation):
        return ALL if value else NOTHING
    if isinstance(like, Truth) and like.of_state:
        return TRUE if value else FALSE
    return TOP if value else BOTTOM


def complement(node: Node) -> Node:
    """What holds exactly where `node` does not; two negations are none.

    Examples
    --------
    >>> from distill.logic import parse
    >>> complement(parse("clear")), complement(parse("~clear"))
    (~clear, clear)
    """
    if node in _COMPLEMENTS:
        return _COMPLEMENTS[node]
    if isinstance(node, NOTS):
        return node.fields[0]  # type: ignore[no-any-return]
    return RelationNot(node) if isinstance(node, Relation) else Not(node)


def reflexive(relation: Relation) -> bool:
    """Whether it is seen at once that every object is related to itself."""
    found = isinstance(relation, Everything | Identity)
    found |= isinstance(relation, Closure) and relation.fields[1]
    if isinstance(relation, RelationOr) and len(relation.fields) <= _WIDE:
        found = any(isinstance(part, Identity) or _reflexive_closure(part) for part in relation.fields)
    return found


def _reflexive_closure(relation: Node) -> bool:
    return isinstance(relation, Closure) and bool(relation.fields[1])


@lru_cache(maxsize=1 << 16)
def entails(strong: Node, weak: Node, strong_holds: bool = True, weak_holds: bool = True) -> bool:
    """Whether `weak` is seen to hold wherever `strong` does, in every structure.

    Both must be relations, or both formulas about the same things.

    Parameters
    ----------
    strong_holds, weak_holds : if false, what is meant is that it does not hold.

    Examples
    --------
    >>> from distill.logic import parse
    >>> entails(parse("<on>(a & b) > 2"), parse("<on | under>a > 1"))
    True
    >>> entails(parse("<on>a"), parse("<on>a > 1")), entails(parse("~a & b"), parse("a"), weak_holds=False)
    (False, True)
    """
    return _Test(_EFFORT).follows((strong, strong_holds), (weak, weak_holds), _LEVELS)


_Said = tuple[Node, bool]  # a formula, and whether it holds


class _Test:
    """One question; what is not answered within the effort counts as not seen."""

    def __init__(self, effort: int) -> None:
        self.effort = effort

    def follows(self, strong: _Said, weak: _Said, levels: int) -> bool:
        strong, weak = _plain(strong), _plain(weak)
        if strong == weak or weak[0] in _ALWAYS or strong[0] in _ALWAYS:
            return (
                strong == weak or (weak[0] in _ALWAYS and weak[1]) or (strong[0] in _ALWAYS and not strong[1])
            )
        self.effort -= 1
        if levels == 0 or self.effort < 0:
            return False
        return self._stays(strong, weak, levels - 1) or self._by_form(strong, weak, levels - 1)

    def _stays(self, strong: _Said, weak: _Said, levels: int) -> bool:
        """Whether no step at all is enough, along a relation that allows that: φ ⟹ <r*>φ."""
        if weak[1] and _may_stay(weak[0]):
            return self.follows(strong, (weak[0].fields[1], True), levels)
        if not strong[1] and _may_stay(strong[0]):
            return self.follows((strong[0].fields[1], False), weak, levels)
        return False

    def _by_form(self, strong: _Said, weak: _Said, levels: int) -> bool:
        given, needed = _operands(strong, True), _operands(weak, True)
        cases, choices = _operands(strong, False), _operands(weak, False)
        if strong[1] == weak[1] and type(strong[0]) is type(weak[0]) and (needed or cases):
            more, fewer = (strong[0], weak[0]) if needed else (weak[0], strong[0])
            if set(fewer.fields) <= set(more.fields):
                return True
        if needed:
            return len(needed) <= _WIDE and all(self.follows(strong, one, levels) for one in needed)
        if cases:
            return len(cases) <= _WIDE and all(self.follows(one, weak, levels) for one in cases)
        if given or choices:
            if weak in map(_plain, given) or strong in map(_plain, choices):
                return True
            return (len(given) <= _WIDE and any(self.follows(one, weak, levels) for one in given)) or (
                len(choices) <= _WIDE and any(self.follows(strong, one, levels) for one in choices)
            )
        if strong[1] != weak[1]:
            return False
        return self._of_a_kind(*((strong[0], weak[0]) if weak[1] else (weak[0], strong[0])), levels)

    def _of_a_kind(self, strong: Node, weak: Node, levels: int) -> bool:
        """Of modals, comparisons and relations: more follows from less."""
        if isinstance(weak, Modal) and isinstance(strong, Modal):
            own, inside, above = strong.fields
            relation, operand, threshold = weak.fields
            return (
                above >= threshold
                and _count_alike(own, relation, threshold)
                and self.follows((own, True), (relation, True), levels)
                and self.follows((inside, True), (operand, True), levels)
            )
        if isinstance(weak, Compare) and isinstance(strong, Compare):
            (more, least), (less, most) = strong.fields, weak.fields
            if least >= most and isinstance(more, Count) and isinstance(less, Count):
                return self.follows((more.fields[0], True), (less.fields[0], True), levels)
            return bool(least >= most and more is less)
        if isinstance(weak, Closure):
            inner, stays = weak.fields
            if isinstance(strong, Identity):
                return bool(stays)
            steps, may_stay = strong.fields if isinstance(strong, Closure) else (strong, False)
            return may_stay <= stays and self.follows((steps, True), (inner, True), levels)
        return False


def _plain(said: _Said) -> _Said:
    """Without negations and with only one name for what always holds."""
    node, holds = said
    while isinstance(node, NOTS):
        node, holds = node.fields[0], not holds
    return (TRUE, not holds) if node is FALSE else (node, holds)


def _operands(said: _Said, together: bool) -> list[_Said]:
    """What all must hold (if `together`) or one of which must hold for this to hold."""
    node, holds = said
    joins = ANDS if together == holds else ORS
    return [(part, holds) for part in node.fields] if isinstance(node, joins) else []


def _may_stay(node: Node) -> bool:
    return isinstance(node, Modal) and node.fields[2] == 0 and reflexive(node.fields[0])


def _count_alike(own: Node, relation: Node, threshold: int) -> bool:
    """A role may count atoms, of which there can be more than objects; combined ones count objects."""
    joined = isinstance(relation, RelationOr) and own in relation.fields
    return own is relation or threshold == 0 or not isinstance(own, Role) or joined
