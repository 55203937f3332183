"""Try a formula on a state of one's own: a state of the run whose atoms are edited."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.drawings import DRAWINGS, Scene, drawings_for
from app.opened import Opened
from app.parts import preformatted
from app.plain import plain
from app.selection import page_link, pick, select, selected
from app.state_picture import scene_of, show_picture, static_predicates
from app.state_view import part
from distill.errors import InputError
from distill.jobs.catalogue import as_number, counted
from distill.logic import Evaluator, Node, Number, Truth
from distill.logic.evaluation import meant_by
from distill.planning import DataSet
from distill.structures import Structures, Vocabulary
from distill.structures.vocabulary import ACHIEVED, MISSING

_SHOWN = 200  # objects that are listed by name
_PARTS = 30  # parts of the formula that are told
_TEXT = "own state"  # the key of the text area
_ADDED = "own state/objects"  # of the names of more objects
_OF = "own state/of"  # and of what its atoms are edits of
_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]*")
_MOST_ADDED = 50


def read_state(text: str, vocabulary: Vocabulary, objects: Sequence[str], marked: bool = False) -> Structures:
    """One state from its atoms, one a line: `(on a b)`; `;` begins a comment, and parentheses may be missing.

    Parameters
    ----------
    vocabulary : with plain goals.
    objects : the names of all objects.
    marked : whether goals become achieved and missing ones.

    Examples
    --------
    >>> from distill.structures import Predicate
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1), Predicate("on_G", 2, "goal")])
    >>> state = read_state("(on a b) ; a tower" + chr(10) + "clear a", words, ["a", "b"])
    >>> state.decode(0, ["a", "b"])
    [('on', ('a', 'b')), ('clear', ('a',))]
    >>> read_state("(clear a)" + chr(10) + "(on a)", words, ["a", "b"])
    Traceback (most recent call last):
        ...
    distill.errors.InputError: Line 2: on takes 2 objects, not 1; write it as (on a b).
    """
    number = {name: place for place, name in enumerate(objects)}
    atoms: dict[str, set[tuple[int, ...]]] = {predicate.name: set() for predicate in vocabulary}
    for line, written in enumerate(text.splitlines(), start=1):
        name, *arguments = _words(written, line) or [""]
        if not name:
            continue
        try:
            [predicate] = meant_by(vocabulary, name)
        except InputError as error:
            raise InputError(f"Line {line}: {error}") from error
        if len(arguments) != predicate.arity:
            pattern = " ".join([name, *"abcdefghijk"[: predicate.arity]])
            takes = f"takes {predicate.arity} object{'s' if predicate.arity != 1 else ''}"
            raise InputError(f"Line {line}: {name} {takes}, not {len(arguments)}; write it as ({pattern}).")
        for argument in arguments:
            if argument not in number:
                raise InputError(
                    f"Line {line}: there is no object {argument} in this instance; choose from "
                    f"{', '.join(objects[:_SHOWN])}."
                )
        atoms[name].add(tuple(number[argument] for argument in arguments))
    if marked:
        atoms = _marked(atoms, vocabulary)
        vocabulary = vocabulary.marked()
    relations = {
        predicate.name: sorted(atoms[predicate.name])
        if predicate.arity
        else [(0,)] * len(atoms[predicate.name])
        for predicate in vocabulary
    }
    return Structures(vocabulary, 1, np.zeros(len(objects), dtype=np.int32), relations)


def _words(written: str, line: int) -> list[str]:
    """The words of an atom; none on an empty line."""
    text = written.partition(";")[0].strip()
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    if "(" in inner or ")" in inner or (text and not inner.strip()):
        raise InputError(f"Line {line}: “{text}” is no atom; write one atom a line, such as (on a b).")
    return inner.split()


def _marked(
    atoms: dict[str, set[tuple[int, ...]]], vocabulary: Vocabulary
) -> dict[str, set[tuple[int, ...]]]:
    found: dict[str, set[tuple[int, ...]]] = {}
    for predicate in vocabulary:
        own = atoms[predicate.name]
        if predicate.role != "goal":
            found[predicate.name] = own
            continue
        true = own & atoms.get(predicate.base, set())
        achieved = own - true if predicate.wants_absence else true
        found |= {predicate.name + ACHIEVED: achieved, predicate.name + MISSING: own - achieved}
    return found


def added_objects(text: str, known: Sequence[str]) -> list[str]:
    """Names of objects that are added to those of an instance, in their order.

    Examples
    --------
    >>> added_objects("Ball9 ball9, room1", ["room1"])
    ['ball9']
    >>> added_objects("ball(9)", [])
    Traceback (most recent call last):
        ...
    distill.errors.InputError: “ball(9)” is no name for an object; names are letters, digits, - and _.
    """
    found: list[str] = []
    for name in text.replace(",", " ").lower().split():
        if not _NAME.fullmatch(name):
            raise InputError(f"“{name}” is no name for an object; names are letters, digits, - and _.")
        if name not in known and name not in found:
            found.append(name)
    if len(found) > _MOST_ADDED:
        raise InputError(f"These are {len(found)} more objects; add {_MOST_ADDED} at most.")
    return found


def show_own_state(formula: Node, opened: Opened) -> None:
    """A state of the run to be edited, and what the formula says of it."""
    st.caption(
        "What does the formula say of a state that you make up? Begin with a state of the run and edit its "
        "atoms, one a line; what ends in _G is the goal. Objects that you add are what their atoms say."
    )
    split, data, state = _begin(opened)
    instance = int(data.state_instance[state])
    names = list(data.instances[instance]["objects"])
    original = "\n".join(data.atom_names(state))
    st.session_state[_TEXT] = selected("atoms") or original
    st.session_state[_ADDED] = selected("objects")

    def edited() -> None:
        text = st.session_state[_TEXT]
        select(atoms=None if text == original else text)

    left, right = st.columns(2)
    with left:
        st.text_input(
            "More objects",
            key=_ADDED,
            placeholder="names, such as ball9 room3",
            on_change=lambda: select(objects=st.session_state[_ADDED].strip()),
        )
        height = min(420, 60 + 24 * len(original.splitlines()))
        text = st.text_area("Atoms", key=_TEXT, height=height, on_change=edited) or ""
        if text != original or selected("objects"):
            undo = {"atoms": None, "objects": None}
            st.button("Undo all edits", on_click=lambda: select(**undo), key="own state/undo")
    with right:
        try:
            marked = opened.distilled.goal_marking
            added = added_objects(selected("objects"), names)
            own = read_state(text, data.vocabulary, [*names, *added], marked)
            held = _show_answer(formula, [*names, *added], own, data.structures([state], goal_marking=marked))
        except InputError as error:
            st.error(plain(str(error)))
            return
    with part():
        key = drawings_for(opened.vocabulary)[0]
        if added:
            scene = Scene.of(own, [*names, *added], static_predicates(data.domain), held)
        else:
            scene = scene_of(opened, split, instance, own, held)
        show_picture(DRAWINGS[key].draw(scene))


def _begin(opened: Opened) -> tuple[str, DataSet, int]:
    """The state to begin with: its split, the states of that, and its number among them."""
    left, middle, right = st.columns([1, 1, 2], vertical_alignment="bottom")
    with left:
        split = pick("Split", opened.splits, "split")
    data = opened.states(split)
    if not len(data):
        raise InputError(f"The split {split} has no states; choose another one.")
    wanted = selected("state", "0")
    number = int(wanted) if wanted.isdecimal() and int(wanted) < len(data) else None
    if number is None:
        st.info(f"There is no state “{plain(wanted)}” in {plain(split)}; state 0 is shown instead.")
        number = 0
        select(state=None)

    st.session_state["own state/number"] = number

    def moved() -> None:
        select(state=st.session_state["own state/number"])

    # Edits belong to one state; a link brings them along with it.
    of_state = (opened.name, split, number)
    if st.session_state.get(_OF, of_state) != of_state:
        select(atoms=None, objects=None)
    st.session_state[_OF] = of_state
    with middle:
        st.number_input("State", 0, len(data) - 1, key="own state/number", on_change=moved)
    instance = data.instances[int(data.state_instance[number])]
    with right:
        st.text(f"of {instance['name']}, V* = {int(data.v_star[number])}")
        page_link("state", "Look at this state", run=opened.name, split=split, state=number)
    return split, data, number


def _show_answer(
    formula: Node, names: Sequence[str], state: Structures, before: Structures
) -> NDArray[np.int64]:
    """Say what the formula is in the state, and in the one before; the objects it holds of, or counts."""
    evaluator = Evaluator(state)
    inner = counted(formula)
    number = as_number(formula)
    [value], [old] = evaluator.number(number).tolist(), Evaluator(before).number(number).tolist()
    if isinstance(formula, Truth) and formula.of_state:
        st.metric("The formula", "holds" if value else "does not hold")
    else:
        label = "Its value" if isinstance(formula, Number) else "Objects of which it holds"
        change = None if value == old else f"{value - old:+g} to the state of the run"
        st.metric(label, f"{value:g}", change, delta_color="off")
    held = np.zeros(0, dtype=np.int64)
    if inner is not None:
        held = np.flatnonzero(evaluator.holds(inner))
        found = [names[one] for one in held.tolist()]
        st.text("It holds of:" if inner is formula else f"The objects with {inner}:")
        preformatted(", ".join(found[:_SHOWN]) or "no object")
    # What parts say helps to see why.
    parts = [part for part in formula.walk() if isinstance(part, Truth) and not part.of_state]
    shown = [part for part in parts if part is not inner and 1 < part.size <= 60][:_PARTS]
    rows = [
        {
            "part": str(part),
            "holds of": ", ".join(np.array(names)[evaluator.holds(part)][:_SHOWN]) or "no object",
        }
        for part in shown
    ]
    if rows:
        st.dataframe(rows, hide_index=True, height=min(320, 37 + 35 * len(rows)), key="own state/parts")
    return held
