"""The page Trees and embeddings: the trees of each layer, their leaf sets, and the embeddings."""

import pandas as pd
import streamlit as st

from app.components.failures import part
from app.components.tables import table_download
from app.drawings.decision_tree import Labels, draw_dendrogram, draw_tree
from app.drawings.shapes import Picture
from app.drawings.svg import DARK, LIGHT, to_svg
from app.pages.trees.embedding_chart import show_embeddings
from app.pages.trees.equivalence_classes import show_classes
from app.pages.trees.path import ObjectChoice, choose_object, leaves_text, node_of, show_path, show_split
from app.pages.trees.tree_choice import TreeView, choose_tree, state_sample, trees_of, visits_of
from app.session.run_session import RunSession, current_run
from app.session.selection import pick, remember, select, selected
from distill.runs import sets_with_leaf

_KEYS = ("tree_layer", "tree", "linkage", "sets", "said", "split", "state", "object", "coloured", "formula")


def show() -> None:
    """Show the page."""
    st.title("Trees and embeddings")
    st.caption(
        "The trees of each layer, the path of an object through a tree, its leaf sets among the embeddings "
        "of the network, and the objects that the network cannot distinguish."
    )
    run = current_run()
    remember("run", "notation", *_KEYS, "way")
    trees = None
    with part():
        trees = trees_of(run)
    split = pick("States of", run.splits, "split", resets=("state", "object"), width=240)
    picked = None
    if trees:
        picked = _show_tree(run, choose_tree(run, trees), split)
    else:
        if trees is not None:
            st.info("This run has no trees: its formulas were enumerated without a network.")
        with part():
            picked = choose_object(run, split, about_states=False)
    st.subheader("Equivalence classes", anchor=False)
    with part():
        show_classes(run, split, picked)


def _show_tree(run: RunSession, shown: TreeView, split: str) -> ObjectChoice | None:
    picked = None
    with part():
        picked = choose_object(run, split, shown.tree.about_states)
    with part():
        _show_drawing(shown, split, picked)
    if picked is not None:
        st.subheader("Path", anchor=False)
        with part():
            show_path(shown, picked, node_of(shown, picked))
    st.subheader("Leaf sets", anchor=False)
    with part():
        _show_sets(shown, split, picked)
    st.subheader("Embeddings", anchor=False)
    with part():
        show_embeddings(shown, split, picked)
    return picked


def _show_drawing(shown: TreeView, split: str, picked: ObjectChoice | None) -> None:
    tree = shown.tree.tree
    asked = {column: shown.write(formula) for column, formula in shown.tree.formulas.items()}
    visits = visits_of(shown, split)
    labels = Labels(asked, visits, shown.what, shown.set_of_leaf)
    path = [] if picked is None else shown.tree.path(node_of(shown, picked))
    only = False
    if picked is not None:
        st.session_state["trees/way only"] = selected("way") == "only"
        only = st.toggle(
            "Only the path of this " + ("state" if picked.place is None else "object"),
            key="trees/way only",
            on_change=lambda: select(way="only" if st.session_state["trees/way only"] else None),
        )
    picture = draw_tree(tree, labels, path, only_path=only)
    _show_picture(picture, f"{shown.name}{'-path' if only else ''}", "Tree as SVG")
    numbers, states = state_sample(shown.run, split)
    of = len(states) if shown.tree.about_states else states.n_objects
    st.caption(
        f"Numbers count {of:,} {shown.what} of {len(numbers):,} evenly spaced states of the split. Each "
        "colour is a leaf set. Shortened formulas are shown in full below."
    )
    show_split(shown)


def _show_picture(picture: Picture, name: str, label: str) -> None:
    ink = DARK if st.context.theme.type == "dark" else LIGHT
    st.image(to_svg(picture, ink, None), alt=picture.words)
    st.download_button(label, to_svg(picture), f"{name}.svg", "image/svg+xml", key=f"svg/{name}")


def _show_sets(shown: TreeView, split: str, picked: ObjectChoice | None) -> None:
    leaves = shown.tree.tree.leaves
    visits = visits_of(shown, split)[leaves]
    own = None if picked is None else leaves.tolist().index(node_of(shown, picked))
    stands_out = set() if own is None else set(sets_with_leaf(shown.dendrogram, own))
    left, right = st.columns([1, 1], gap="medium")
    with left:
        picture = draw_dendrogram(shown.dendrogram, shown.set_of_leaf, visits, stands_out)
        _show_picture(picture, f"{shown.name}-{shown.linkage}", "Leaf sets as SVG")
    with right:
        table = leaves_table(shown, split)
        st.dataframe(table.drop(columns="prediction"), hide_index=True, key="trees/leaves")
        table_download(table, f"{shown.name}-leaves", "Leaves as CSV")
        sets = ", ".join(f"{number} ({leaves_text(one)})" for number, one in enumerate(shown.sets))
        st.text(f"Leaf sets and their leaves: {sets}")


def leaves_table(shown: TreeView, split: str) -> pd.DataFrame:
    """For each leaf its leaf set, its number of objects, its weight, its path and its prediction."""
    tree = shown.tree.tree
    visits = visits_of(shown, split)
    rows = []
    for leaf, node in enumerate(tree.leaves.tolist()):
        steps = shown.tree.steps(node)
        rows.append(
            {
                "leaf": leaf,
                "leaf set": int(shown.set_of_leaf[leaf]),
                shown.what: int(visits[node]),
                "weight": float(tree.weights[node]),
                "path": "; ".join(_answered(shown.write(step.formula), step.holds) for step in steps),
                "prediction": " ".join(f"{value:.6g}" for value in tree.values[node]),
            }
        )
    return pd.DataFrame(rows)


def _answered(text: str, holds: bool) -> str:
    return text if holds else f"not ({text})" if " " in text else f"not {text}"
