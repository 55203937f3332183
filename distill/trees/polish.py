"""What is one step from given formulas: their parts, joined, negated, and seen from neighbours."""

from collections.abc import Iterable

from distill.logic import And, Not, Number, Or, Truth
from distill.trees.language import Language


def compositions(numbers: Iterable[Number], language: Language) -> list[Truth]:
    """Formulas about objects that are parts of the given numbers, or one step from these parts.

    Examples
    --------
    >>> from distill.logic import parse
    >>> import numpy as np
    >>> words = Language((parse("clear"),), np.ones((1, 1), dtype=bool), (), ())
    >>> compositions([parse("#<on>holding")], words)[:4]
    [clear, holding, <on>holding, ~clear]
    """
    parts = {
        node: None
        for number in numbers
        for node in number.walk()
        if isinstance(node, Truth) and not node.of_state
    }
    begin = sorted({**parts, **dict.fromkeys(language.concepts)})
    found = dict.fromkeys(begin)
    found |= dict.fromkeys(Not(one) for one in begin)
    found |= dict.fromkeys(modality.of(one) for modality in language.modalities for one in begin)
    for place, one in enumerate(begin):
        for other in begin[:place]:
            found |= dict.fromkeys((And(one, other), Or(one, other)))
            found |= dict.fromkeys((And(one, Not(other)), And(other, Not(one))))
    return sorted(found)
