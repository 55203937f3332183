"""The parts of a formula: as a tree whose nodes can be opened, and as a graph."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import streamlit as st

from app.components.escape import escape
from app.components.formula_selection import number_text
from app.session.selection import select, selected
from distill.logic import (
    And,
    Compare,
    Constant,
    Count,
    Distance,
    Indicator,
    Modal,
    Node,
    Not,
    Number,
    Or,
    Product,
    Scaled,
    Sum,
    weighted,
    write,
)

_LABEL = 110  # characters of a closed part
_ROWS = 80  # displayed parts
_DEEPEST = 30  # levels
_INDENT = 28  # pixels of each level
_INDENTED = 20  # levels with an indent of their own


@dataclass(frozen=True)
class Row:
    """A line of the tree.

    Attributes
    ----------
    path : the numbers of the parts from the whole formula down to this one.
    formula : the part.
    text : the shortened formula; if it is open, its connective.
    opens : whether it has parts.
    is_open : whether its parts follow.
    """

    path: tuple[int, ...]
    formula: Node
    text: str
    opens: bool
    is_open: bool


Parts = list[tuple[str, Node]]  # each with a prefix: a weight, or which end of a distance it is


def parts_of(node: Node) -> tuple[str, Parts]:
    """The connective of a formula, with relations and thresholds, and its parts.

    Examples
    --------
    >>> from distill.logic import parse
    >>> parts_of(parse("<on>(clear & holding) > 1"))
    ('<on> leads to more than 1 with', [('', clear & holding)])
    >>> parts_of(parse("2*#clear - 3*#holding"))
    ('sum of', [('2 × ', #clear), ('−3 × ', #holding)])
    """
    if isinstance(node, Indicator):
        return parts_of(node.fields[0])
    if isinstance(node, Modal):
        relation, operand, threshold = node.fields
        least = f"more than {threshold}" if threshold else "some object"
        return f"<{write(relation)}> leads to {least} with", [("", operand)]
    if isinstance(node, Sum | Scaled):
        return "sum of", [(_factor(weight, part), part) for weight, part in weighted(node)]
    if isinstance(node, Compare):
        number, threshold = node.fields
        if isinstance(number, Count):
            least = f"more than {threshold} objects" if threshold else "some object"
            return f"{least} with", [("", number.fields[0])]
        return f"more than {threshold}", [("", number)]
    if isinstance(node, Distance):
        first, relation, last = node.fields
        return f"fewest steps by {write(relation)}", [("from ", first), ("to ", last)]
    connective = _CONNECTIVES.get(type(node))
    if connective is None:
        return _short(node), []
    return connective, [("", part) for part in node.parts]


def _factor(weight: float, part: Node) -> str:
    return "" if weight == 1 or isinstance(part, Constant) else f"{weight:g} × ".replace("-", "−")


_CONNECTIVES: dict[type[Node], str] = {
    Not: "not",
    And: "all of",
    Or: "any of",
    Count: "number of objects with",
    Product: "product of",
}


def rows(formula: Node, opened: Collection[tuple[int, ...]], at_most: int = _ROWS) -> list[Row]:
    """The lines of the tree from top to bottom; the parts of an open node follow it.

    Examples
    --------
    >>> from distill.logic import parse
    >>> for row in rows(parse("#(clear & <on>holding)"), {(), (0,)}):
    ...     print("  " * len(row.path) + row.text)
    number of objects with
      all of
        clear
        <on>holding
    """
    found: list[Row] = []
    todo: list[tuple[tuple[int, ...], str, Node]] = [((), "", formula)]
    while todo and len(found) < at_most:
        path, mark, node = todo.pop()
        connective, parts = parts_of(node)
        is_open = bool(parts) and path in opened
        found.append(Row(path, node, mark + (connective if is_open else _short(node)), bool(parts), is_open))
        if is_open:
            todo += [((*path, number), *part) for number, part in reversed(list(enumerate(parts)))]
    return found


def levels(formula: Node, at_most: int = _DEEPEST) -> int:
    """The number of levels of a formula."""
    found, front = 0, {formula}
    while found < at_most:
        front = {part for node in front for _, part in parts_of(node)[1]}
        if not front:
            break
        found += 1
    return found


def graphviz_source(formula: Node, depth: int, shared: bool = True, at_most: int = _ROWS) -> str:
    """The formula in the DOT language, opened down to a depth.

    Parameters
    ----------
    shared : whether a repeated part is drawn once.
    at_most : the largest number of open parts.

    Examples
    --------
    >>> from distill.logic import parse
    >>> graphviz_source(parse("<on>clear & <on^-1>clear"), 5).count("->")
    4
    >>> graphviz_source(parse("<on>clear & <on^-1>clear"), 5).count('label="clear"')
    1
    >>> graphviz_source(parse("<on>clear & <on^-1>clear"), 5, shared=False).count('label="clear"')
    2
    """
    boxes: list[str] = []
    arrows: list[str] = []
    names: dict[object, int] = {formula if shared else (): 0}
    todo: list[tuple[tuple[int, ...], Node, int]] = [((), formula, 0)]
    # Level by level, so that a shared part is drawn at its least depth.
    for path, node, level in todo:
        own = names[node if shared else path]
        connective, parts = parts_of(node)
        is_open = bool(parts) and level < depth and len(todo) < at_most
        text = connective if is_open else _short(node, 60)
        boxes.append(f'  {own} [label="{_quoted(text)}", fillcolor="{_colour(node, bool(parts), is_open)}"];')
        for number, (mark, part) in enumerate(parts if is_open else []):
            key: object = part if shared else (*path, number)
            if key not in names:
                names[key] = len(names)
                todo.append(((*path, number), part, level + 1))
            label = f' [label="{mark.strip()}"]' if mark else ""
            arrows.append(f"  {own} -> {names[key]}{label};")
    return "\n".join([_HEAD, *boxes, *arrows, "}"])


# Grey lines and dark text on light boxes suit both themes.
_HEAD = """digraph {
  bgcolor="transparent"; rankdir=TB; nodesep=0.2; ranksep=0.35;
  node [shape=box, style="rounded,filled", color="#888888", fontcolor="#1a1a1a"];
  node [fontname="sans-serif", fontsize=11];
  edge [color="#888888", fontcolor="#888888", fontsize=10, arrowsize=0.6];"""


def _colour(node: Node, opens: bool, is_open: bool) -> str:
    if not opens:
        return "#9fd8c4"
    if not is_open:
        return "#f3d18f"
    return "#a9cfe8" if isinstance(node, Number) or getattr(node, "of_state", False) else "#dbe3ea"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _short(node: Node, length: int = _LABEL) -> str:
    if node.size > 10 * length:
        return f"{number_text(node.size)} symbols"
    text = write(node)
    return text if len(text) <= length else f"{text[: length - 1]}… ({number_text(node.size)} symbols)"


_STEPS, _GRAPH, _TREE = "Step by step", "Graph", "Tree"


def show_inside(formula: Node, choose: Callable[[Node], None]) -> None:
    """Show the parts of a formula.

    Parameters
    ----------
    choose : called with the part that is clicked.
    """
    views = (_STEPS, _GRAPH, _TREE)
    wanted = selected("inside", _STEPS)
    st.session_state["inside"] = wanted if wanted in views else _STEPS
    view = st.segmented_control(
        "How",
        views,
        key="inside",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: select(inside=st.session_state["inside"]),
    )
    if not parts_of(formula)[1]:
        st.info("This formula has no parts.")
    elif view == _STEPS:
        _show_steps(formula, choose)
    else:
        _show_graph(formula, view == _GRAPH)


def _show_steps(formula: Node, choose: Callable[[Node], None]) -> None:
    st.caption("Click a part to open or close it. The arrow at its end opens its card.")
    opened = _opened()
    shown = rows(formula, opened)
    closed = [row.path for row in shown if row.opens and not row.is_open]
    more, none, _ = st.columns([1, 1, 4])
    more.button(
        "Open one more level",
        key="inside/more",
        on_click=lambda: _open({*opened, *closed}),
        disabled=not closed or len(shown) >= _ROWS,
        width="stretch",
    )
    none.button(
        "Close all", key="inside/none", on_click=lambda: _open(set()), disabled=not opened, width="stretch"
    )
    with st.container(gap=None):
        for row in shown:
            _show_row(row, opened, choose)
    if len(shown) >= _ROWS:
        st.caption(f"Only the first {_ROWS} parts are shown; close some, or open the card of a part.")


def _show_row(row: Row, opened: set[tuple[int, ...]], choose: Callable[[Node], None]) -> None:
    name = ".".join(map(str, row.path))
    sign = ("▾" if row.is_open else "▸") if row.opens else "·"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        if row.path:
            st.space(min(_INDENTED, len(row.path)) * _INDENT)
        st.button(
            f"{sign} {escape(row.text)}",
            key=f"inside/row/{name}",
            type="tertiary",
            disabled=not row.opens,
            on_click=lambda: _open(opened ^ {row.path}),
        )
        if row.path:
            st.button(
                "→",
                key=f"inside/card/{name}",
                type="tertiary",
                help="Open its card",
                on_click=lambda: choose(row.formula),
            )


def _opened() -> set[tuple[int, ...]]:
    """The paths of the open parts in the address: `r.0.1` is the second part of the first part."""
    found: set[tuple[int, ...]] = set()
    for word in selected("open", "r").split():
        first, *places = word.split(".")
        if first == "r" and all(place.isdecimal() and len(place) < 6 for place in places):
            found.add(tuple(map(int, places)))
    return found


def _open(paths: Collection[tuple[int, ...]]) -> None:
    words = [".".join(["r", *map(str, path)]) for path in sorted(paths)]
    select(open=" ".join(words) or "none")


def _show_graph(formula: Node, shared: bool) -> None:
    deepest = levels(formula)
    wanted = selected("levels", "4")
    st.session_state["levels"] = min(deepest, int(wanted) if wanted.isdecimal() and wanted != "0" else 4)
    depth = 1
    if deepest > 1:
        depth = st.slider(
            "Levels",
            1,
            deepest,
            key="levels",
            on_change=lambda: select(levels=st.session_state["levels"]),
            width=320,
        )
    text = graphviz_source(formula, depth, shared)
    st.graphviz_chart(text, width="stretch")
    repeated = "Repeated parts are drawn once." if shared else "Repeated parts are drawn each time."
    st.caption(f"{repeated} Yellow parts are closed; at most {_ROWS} parts are open.")
    st.download_button("Graphviz source", text + "\n", "formula.dot", "text/vnd.graphviz", key="inside/dot")
