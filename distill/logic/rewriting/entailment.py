"""A fast syntactic test of entailment: sound but incomplete."""

from distill.logic import syntax as fo

TOP, ALL = fo.Top(), fo.Everything()
NOTHING = fo.RelationNot(ALL)
# Formulas about states have no ⊤; these are the smallest comparisons that always and never hold.
TRUE, FALSE = fo.Compare(fo.Constant(1), 0), fo.Compare(fo.Constant(0), 0)

ANDS, ORS, NOTS = (fo.And, fo.RelationAnd), (fo.Or, fo.RelationOr), (fo.Not, fo.RelationNot)
_COMPLEMENTS: dict[fo.Node, fo.Node] = {TRUE: FALSE, FALSE: TRUE}
_ALWAYS = (TOP, ALL, TRUE)
_LEVELS = 6  # depth to which the test compares formulas
_EFFORT = 25  # limit on comparisons of parts
_KEPT = 1 << 16
_Order = tuple[int, str, bytes]
# Known answers. The keys are no nodes, which would stay in memory with all their parts.
_answers: dict[tuple[_Order, _Order, bool, bool], bool] = {}
_WIDE = 8  # with more operands, only identical ones are compared


def constant(value: bool, like: fo.Node) -> fo.Node:
    """The formula or relation of the kind of `like` that always or never holds.

    Examples
    --------
    >>> from distill.logic import parse
    >>> constant(False, parse("clear")), constant(True, parse("[#clear > 0]"))
    (bot, [1 > 0])
    """
    if isinstance(like, fo.Relation):
        return ALL if value else NOTHING
    if isinstance(like, fo.Truth) and like.of_state:
        return TRUE if value else FALSE
    return TOP if value else fo.BOTTOM


def complement(node: fo.Node) -> fo.Node:
    """The negation of a node, without double negation.

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
    return fo.RelationNot(node) if isinstance(node, fo.Relation) else fo.Not(node)


def reflexive(relation: fo.Relation) -> bool:
    """Whether the relation is reflexive by its form."""
    found = isinstance(relation, fo.Everything | fo.Identity)
    found |= isinstance(relation, fo.Closure) and relation.fields[1]
    if isinstance(relation, fo.RelationOr) and len(relation.fields) <= _WIDE:
        found = any(isinstance(part, fo.Identity) or _reflexive_closure(part) for part in relation.fields)
    return found


def _reflexive_closure(relation: fo.Node) -> bool:
    return isinstance(relation, fo.Closure) and bool(relation.fields[1])


def entails(strong: fo.Node, weak: fo.Node, strong_holds: bool = True, weak_holds: bool = True) -> bool:
    """Whether the test proves that `weak` holds wherever `strong` does, in every structure.

    Both must be relations, or both formulas about objects, or both about states.

    Parameters
    ----------
    strong_holds, weak_holds : if false, the negation is meant.

    Examples
    --------
    >>> from distill.logic import parse
    >>> entails(parse("<on>(a & b) > 2"), parse("<on | under>a > 1"))
    True
    >>> entails(parse("<on>a"), parse("<on>a > 1")), entails(parse("~a & b"), parse("a"), weak_holds=False)
    (False, True)
    """
    key = (strong.order, weak.order, strong_holds, weak_holds)
    if key not in _answers:
        if len(_answers) >= _KEPT:
            _answers.clear()
        _answers[key] = _Test(_EFFORT).follows((strong, strong_holds), (weak, weak_holds), _LEVELS)
    return _answers[key]


_Literal = tuple[fo.Node, bool]  # a formula, and whether it holds


class _Test:
    """One test; without a proof within the effort, the answer is no."""

    def __init__(self, effort: int) -> None:
        self.effort = effort

    def follows(self, strong: _Literal, weak: _Literal, levels: int) -> bool:
        strong, weak = _plain(strong), _plain(weak)
        if strong == weak or weak[0] in _ALWAYS or strong[0] in _ALWAYS:
            return (
                strong == weak or (weak[0] in _ALWAYS and weak[1]) or (strong[0] in _ALWAYS and not strong[1])
            )
        self.effort -= 1
        if levels == 0 or self.effort < 0:
            return False
        return self._stays(strong, weak, levels - 1) or self._by_form(strong, weak, levels - 1)

    def _stays(self, strong: _Literal, weak: _Literal, levels: int) -> bool:
        """Whether φ ⟹ <r*>φ applies: the relation allows paths of length 0."""
        if weak[1] and _may_stay(weak[0]):
            return self.follows(strong, (weak[0].fields[1], True), levels)
        if not strong[1] and _may_stay(strong[0]):
            return self.follows((strong[0].fields[1], False), weak, levels)
        return False

    def _by_form(self, strong: _Literal, weak: _Literal, levels: int) -> bool:
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

    def _of_a_kind(self, strong: fo.Node, weak: fo.Node, levels: int) -> bool:
        """Compare two modals, two comparisons or two relations by their parts."""
        if isinstance(weak, fo.Modal) and isinstance(strong, fo.Modal):
            own, inside, above = strong.fields
            relation, operand, threshold = weak.fields
            return (
                above >= threshold
                and _count_alike(own, relation, threshold)
                and self.follows((own, True), (relation, True), levels)
                and self.follows((inside, True), (operand, True), levels)
            )
        if isinstance(weak, fo.Compare) and isinstance(strong, fo.Compare):
            (more, least), (less, most) = strong.fields, weak.fields
            if least >= most and isinstance(more, fo.Count) and isinstance(less, fo.Count):
                return self.follows((more.fields[0], True), (less.fields[0], True), levels)
            return bool(least >= most and more is less)
        if isinstance(weak, fo.Closure):
            inner, stays = weak.fields
            if isinstance(strong, fo.Identity):
                return bool(stays)
            steps, may_stay = strong.fields if isinstance(strong, fo.Closure) else (strong, False)
            return may_stay <= stays and self.follows((steps, True), (inner, True), levels)
        return False


def _plain(literal: _Literal) -> _Literal:
    """Remove negations, and give formulas that always hold one form."""
    node, holds = literal
    while isinstance(node, NOTS):
        node, holds = node.fields[0], not holds
    return (TRUE, not holds) if node is FALSE else (node, holds)


def _operands(literal: _Literal, together: bool) -> list[_Literal]:
    """The conjuncts (if `together`) or the disjuncts of a literal."""
    node, holds = literal
    joins = ANDS if together == holds else ORS
    return [(part, holds) for part in node.fields] if isinstance(node, joins) else []


def _may_stay(node: fo.Node) -> bool:
    return isinstance(node, fo.Modal) and node.fields[2] == 0 and reflexive(node.fields[0])


def _count_alike(own: fo.Node, relation: fo.Node, threshold: int) -> bool:
    """Whether both count alike: a role counts atoms, a combined relation counts objects."""
    joined = isinstance(relation, fo.RelationOr) and own in relation.fields
    return own is relation or threshold == 0 or not isinstance(own, fo.Role) or joined
