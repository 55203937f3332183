"""The state editor: evaluates a formula on a state whose atoms are edited."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.escape import escape
from app.components.failures import part
from app.components.formula_display import preformatted
from app.components.state_picture import scene_of, show_picture, static_predicates
from app.drawings import DRAWINGS, drawings_for
from app.drawings.scene import Scene
from app.session.run_session import RunSession
from app.session.selection import page_link, pick, select, selected
from distill.common import InputError
from distill.explanations import as_number, counted_concept
from distill.logic import Evaluator, Node, Number, Truth, resolve_predicate
from distill.structures import ACHIEVED, MISSING, DataSet, Structures, Vocabulary

_SHOWN = 200  # named objects
_PARTS = 30  # parts of the formula in the table
_TEXT = "own state"  # the key of the text area
_ADDED = "own state/objects"  # the key of the names of additional objects
_OF = "own state/of"  # the key of the state that is edited
_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]*")
_MOST_ADDED = 50


def read_state(text: str, vocabulary: Vocabulary, objects: Sequence[str], marked: bool = False) -> Structures:
    """Parse a state from its atoms, one per line: `(on a b)`; `;` starts a comment, parentheses are optional.

    Parameters
    ----------
    vocabulary : with plain goals.
    objects : the names of all objects.
    marked : whether goals are marked as achieved or missing.

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
    distill.common.errors.InputError: Line 2: on takes 2 objects, not 1; write it as (on a b).
    """
    number = {name: place for place, name in enumerate(objects)}
    atoms: dict[str, set[tuple[int, ...]]] = {predicate.name: set() for predicate in vocabulary}
    for line, written in enumerate(text.splitlines(), start=1):
        name, *arguments = _words(written, line) or [""]
        if not name:
            continue
        try:
            [predicate] = resolve_predicate(vocabulary, name)
        except InputError as error:
            raise InputError(f"Line {line}: {error}") from error
        if len(arguments) != predicate.arity:
            pattern = " ".join([name, *"abcdefghijk"[: predicate.arity]])
            takes = f"takes {predicate.arity} object{'s' if predicate.arity != 1 else ''}"
            raise InputError(f"Line {line}: {name} {takes}, not {len(arguments)}; write it as ({pattern}).")
        for argument in arguments:
            if argument not in number:
                raise InputError(
                    f"Line {line}: the instance has no object {argument}; choose from "
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
    """The predicate and the objects of an atom; empty on an empty line."""
    text = written.partition(";")[0].strip()
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    if "(" in inner or ")" in inner or (text and not inner.strip()):
        raise InputError(f"Line {line}: “{text}” is no atom; write one atom per line, such as (on a b).")
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
    """The names of additional objects, in their order.

    Examples
    --------
    >>> added_objects("Ball9 ball9, room1", ["room1"])
    ['ball9']
    >>> added_objects("ball(9)", [])
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: “ball(9)” is not a valid name of an object; use letters, ...
    """
    found: list[str] = []
    for name in text.replace(",", " ").lower().split():
        if not _NAME.fullmatch(name):
            raise InputError(f"“{name}” is not a valid name of an object; use letters, digits, - and _.")
        if name not in known and name not in found:
            found.append(name)
    if len(found) > _MOST_ADDED:
        raise InputError(f"{len(found)} objects are too many; add at most {_MOST_ADDED}.")
    return found


def show_state_editor(formula: Node, run: RunSession) -> None:
    """Show the editor, and the value of the formula in the edited state."""
    st.caption(
        "Evaluate the formula on a state of your own. Start with a state of the run and edit its atoms, one "
        "per line; predicates that end in _G are goals. Additional objects have only the atoms that you type."
    )
    split, data, state = _begin(run)
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
            marked = run.value_function.goal_marking
            added = added_objects(selected("objects"), names)
            own = read_state(text, data.vocabulary, [*names, *added], marked)
            held = _show_answer(formula, [*names, *added], own, data.structures([state], goal_marking=marked))
        except InputError as error:
            st.error(escape(str(error)))
            return
    with part():
        key = drawings_for(run.vocabulary)[0]
        if added:
            scene = Scene.of(own, [*names, *added], static_predicates(data.domain), held)
        else:
            scene = scene_of(run, split, instance, own, held)
        show_picture(DRAWINGS[key].draw(scene))


def _begin(run: RunSession) -> tuple[str, DataSet, int]:
    """Ask for the initial state: its split, the states of the split, and its number."""
    left, middle, right = st.columns([1, 1, 2], vertical_alignment="bottom")
    with left:
        split = pick("Split", run.splits, "split")
    data = run.states(split)
    if not len(data):
        raise InputError(f"The split {split} has no states; choose another one.")
    wanted = selected("state", "0")
    number = int(wanted) if wanted.isdecimal() and int(wanted) < len(data) else None
    if number is None:
        st.info(f"There is no state “{escape(wanted)}” in {escape(split)}; state 0 is shown instead.")
        number = 0
        select(state=None)

    st.session_state["own state/number"] = number

    def moved() -> None:
        select(state=st.session_state["own state/number"])

    # Edits belong to one state.
    of_state = (run.name, split, number)
    if st.session_state.get(_OF, of_state) != of_state:
        select(atoms=None, objects=None)
    st.session_state[_OF] = of_state
    with middle:
        st.number_input("State", 0, len(data) - 1, key="own state/number", on_change=moved)
    instance = data.instances[int(data.state_instance[number])]
    with right:
        st.text(f"of {instance['name']}, V* = {int(data.v_star[number])}")
        page_link("state", "Open this state", run=run.name, split=split, state=number)
    return split, data, number


def _show_answer(
    formula: Node, names: Sequence[str], state: Structures, before: Structures
) -> NDArray[np.int64]:
    """Show the value before and after the edits; returns the objects of which the formula holds."""
    evaluator = Evaluator(state)
    inner = counted_concept(formula)
    number = as_number(formula)
    [value], [old] = evaluator.number(number).tolist(), Evaluator(before).number(number).tolist()
    if isinstance(formula, Truth) and formula.of_state:
        st.metric("The formula", "holds" if value else "does not hold")
    else:
        label = "Its value" if isinstance(formula, Number) else "Objects of which it holds"
        change = None if value == old else f"{value - old:+g} relative to the state of the run"
        st.metric(label, f"{value:g}", change, delta_color="off")
    held = np.zeros(0, dtype=np.int64)
    if inner is not None:
        held = np.flatnonzero(evaluator.holds(inner))
        found = [names[one] for one in held.tolist()]
        st.text("It holds of:" if inner is formula else f"The objects with {inner}:")
        preformatted(", ".join(found[:_SHOWN]) or "no object")
    # The parts show why.
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
