"""Trees and embeddings: what the trees of each layer ask for, and what they make of the network's space."""

import pandas as pd
import streamlit as st

from app.drawings import DARK, LIGHT, Picture, to_svg
from app.embedding_chart import show_embeddings
from app.embedding_lookalikes import show_lookalikes
from app.opened import Opened, opened
from app.parts import table_download
from app.selection import pick, remember, select, selected
from app.state_view import part
from app.tree_choice import Shown, choose_tree, sampled, trees_of, visits_of
from app.tree_drawing import Labels, draw_dendrogram, draw_tree
from app.tree_path import Picked, choose_object, leaves_text, node_of, show_asked, show_way
from distill.jobs.stored_trees import containing

_KEYS = ("tree_layer", "tree", "linkage", "sets", "said", "split", "state", "object", "coloured", "formula")


def page() -> None:
    """Show the page."""
    st.title("Trees and embeddings")
    st.caption(
        "What do the trees of each layer ask for, which way does an object take through them, and how do "
        "their leaf sets lie in the network's space? What can a network of so many layers not tell apart?"
    )
    run = opened()
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
            st.info("This run has no trees: its formulas were enumerated, without looking at a network.")
        with part():
            picked = choose_object(run, split, about_states=False)
    st.subheader("What looks the same", anchor=False)
    with part():
        show_lookalikes(run, split, picked)


def _show_tree(run: Opened, shown: Shown, split: str) -> Picked | None:
    picked = None
    with part():
        picked = choose_object(run, split, shown.tree.about_states)
    with part():
        _show_drawing(shown, split, picked)
    if picked is not None:
        st.subheader("The way", anchor=False)
        with part():
            show_way(shown, picked, node_of(shown, picked))
    st.subheader("Leaf sets", anchor=False)
    with part():
        _show_sets(shown, split, picked)
    st.subheader("Embeddings", anchor=False)
    with part():
        show_embeddings(shown, split, picked)
    return picked


def _show_drawing(shown: Shown, split: str, picked: Picked | None) -> None:
    tree = shown.tree.grown.tree
    asked = {column: shown.write(formula) for column, formula in shown.tree.grown.asked.items()}
    visits = visits_of(shown, split)
    labels = Labels(asked, visits, shown.what, shown.set_of_leaf)
    way = [] if picked is None else shown.tree.way(node_of(shown, picked))
    only = False
    if picked is not None:
        st.session_state["trees/way only"] = selected("way") == "only"
        only = st.toggle(
            "Only the way of this " + ("state" if picked.place is None else "object"),
            key="trees/way only",
            on_change=lambda: select(way="only" if st.session_state["trees/way only"] else None),
        )
    picture = draw_tree(tree, labels, way, only_way=only)
    _show_picture(picture, f"{shown.name}{'-way' if only else ''}", "Tree as SVG")
    numbers, states = sampled(shown.run, split)
    of = len(states) if shown.tree.about_states else states.n_objects
    st.caption(
        f"Numbers count {of:,} {shown.what} of {len(numbers):,} states of the split, at even distances; each "
        "colour is a leaf set. What is too long can be read in full below."
    )
    show_asked(shown)


def _show_picture(picture: Picture, name: str, label: str) -> None:
    ink = DARK if st.context.theme.type == "dark" else LIGHT
    st.image(to_svg(picture, ink, None), alt=picture.words)
    st.download_button(label, to_svg(picture), f"{name}.svg", "image/svg+xml", key=f"svg/{name}")


def _show_sets(shown: Shown, split: str, picked: Picked | None) -> None:
    leaves = shown.tree.grown.tree.leaves
    visits = visits_of(shown, split)[leaves]
    own = None if picked is None else leaves.tolist().index(node_of(shown, picked))
    stands_out = set() if own is None else set(containing(shown.dendrogram, own))
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


def leaves_table(shown: Shown, split: str) -> pd.DataFrame:
    """For each leaf: its leaf set, how many end there, what it weighs, its way, and what it predicts."""
    tree = shown.tree.grown.tree
    visits = visits_of(shown, split)
    rows = []
    for leaf, node in enumerate(tree.leaves.tolist()):
        turns = shown.tree.turns(node)
        rows.append(
            {
                "leaf": leaf,
                "leaf set": int(shown.set_of_leaf[leaf]),
                shown.what: int(visits[node]),
                "weight": float(tree.weights[node]),
                "way": "; ".join(_answered(shown.write(turn.formula), turn.holds) for turn in turns),
                "prediction": " ".join(f"{value:.6g}" for value in tree.values[node]),
            }
        )
    return pd.DataFrame(rows)


def _answered(text: str, holds: bool) -> str:
    return text if holds else f"not ({text})" if " " in text else f"not {text}"
