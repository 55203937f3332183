"""Try a formula on a state of one's own: a state of the run whose atoms are edited."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from app.opened import Opened
from app.plain import plain
from app.selection import page_link, pick, select, selected
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
_OF = "own state/of"  # and of what its atoms are edits of


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


def show_own_state(formula: Node, opened: Opened) -> None:
    """A state of the run to be edited, and what the formula says of it."""
    st.caption(
        "What does the formula say of a state that you make up? Begin with a state of the run and edit its "
        "atoms, one a line; what ends in _G is the goal."
    )
    data, state = _begin(opened)
    names = list(data.instances[int(data.state_instance[state])]["objects"])
    original = "\n".join(data.atom_names(state))
    st.session_state[_TEXT] = selected("atoms") or original

    def edited() -> None:
        text = st.session_state[_TEXT]
        select(atoms=None if text == original else text)

    left, right = st.columns(2)
    with left:
        height = min(420, 60 + 24 * len(original.splitlines()))
        text = st.text_area("Atoms", key=_TEXT, height=height, on_change=edited) or ""
        if text != original:
            st.button("Undo all edits", on_click=lambda: select(atoms=None), key="own state/undo")
    with right:
        try:
            marked = opened.distilled.goal_marking
            edited_state = read_state(text, data.vocabulary, names, marked)
            _show_answer(formula, names, edited_state, data.structures([state], goal_marking=marked))
        except InputError as error:
            st.error(plain(str(error)))


def _begin(opened: Opened) -> tuple[DataSet, int]:
    """The state to begin with: its set, and its number there."""
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
        select(atoms=None)
    st.session_state[_OF] = of_state
    with middle:
        st.number_input("State", 0, len(data) - 1, key="own state/number", on_change=moved)
    instance = data.instances[int(data.state_instance[number])]
    with right:
        st.text(f"of {instance['name']}, V* = {int(data.v_star[number])}")
        page_link("state", "Look at this state", run=opened.name, split=split, state=number)
    return data, number


def _show_answer(formula: Node, names: Sequence[str], state: Structures, before: Structures) -> None:
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
    if inner is not None:
        held = evaluator.holds(inner)
        found = [name for name, own in zip(names, held, strict=True) if own]
        st.text("It holds of:" if inner is formula else f"The objects with {inner}:")
        st.code(", ".join(found[:_SHOWN]) or "no object", language=None, wrap_lines=True)
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
