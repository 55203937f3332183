"""Drawings of states, for any domain and for some special ones; they need no Streamlit."""

from collections.abc import Callable
from dataclasses import dataclass

from app.drawings import blocks, graph, grid, gripper
from app.drawings.png import to_png
from app.drawings.scene import Scene, Words
from app.drawings.shapes import Picture
from app.drawings.svg import DARK, LIGHT, to_svg
from distill.structures import Vocabulary

__all__ = ["DARK", "DRAWINGS", "LIGHT", "Drawing", "Picture", "Scene", "drawings_for", "to_png", "to_svg"]


@dataclass(frozen=True)
class Drawing:
    """A kind of drawing.

    Attributes
    ----------
    name : the label.
    needs : the predicates that a vocabulary must have.
    draw : maps a scene to a picture; an `InputError` if that is impossible.
    """

    name: str
    needs: tuple[Words, ...]
    draw: Callable[[Scene], Picture]

    def can_draw(self, vocabulary: Vocabulary) -> bool:
        """Whether it can draw the states of a vocabulary."""
        return all(words.within(vocabulary) for words in self.needs)


DRAWINGS = {
    "blocks": Drawing("blocks", blocks.NEEDS, blocks.draw),
    "gripper": Drawing("rooms and grippers", gripper.NEEDS, gripper.draw),
    "grid": Drawing("grid", grid.NEEDS, grid.draw),
    "graph": Drawing("object graph", graph.NEEDS, graph.draw),
}


def drawings_for(vocabulary: Vocabulary) -> list[str]:
    """The keys of the drawings for a vocabulary, the most special one first; the object graph is the last.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> [drawings_for(problem_class(name).domain.vocabulary()) for name in ("gripper", "miconic")]
    [['gripper', 'graph'], ['graph']]
    """
    return [key for key, drawing in DRAWINGS.items() if drawing.can_draw(vocabulary)]
