"""The page Expressivity: conflicts against the analysis, what tells two states apart, files, bad input."""

import io
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.pages.expressivity.conflict_table import changes, conflicting_colourings
from app.session.run_index import DEMO
from distill.evaluation import compare_up_to_names, find_distinctions, find_short_distinctions
from distill.logic import parse
from distill.planning import transitions
from distill.runs import Run
from distill.structures import DataSet
from distill.symmetry import COLOURINGS, Conflicts, Expressivity, StateModel, whole_instances
from tests.support.browser import Browser, served
from tests.support.page_content import frame, said, shown
from tests.support.swap_run import swap_run

pytest.importorskip("streamlit")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """A tiny run in which 1-WL confuses states of different V*."""
    return swap_run(tmp_path_factory.mktemp("swap"))


def counted(analysis: Expressivity) -> dict[str, list[int]]:
    return {name: [analysis.conflicts(name).e, analysis.conflicts(name).v] for name in COLOURINGS}


def some_blocks(runs_folder: Path) -> DataSet:
    data = Run.load(min(runs_folder.glob("blocks-*"))).states("train")
    return data.pick(np.flatnonzero(data.state_instance < 3))


# Counting


@pytest.mark.slow
def test_conflicts_are_the_pairs_of_classes_that_a_colouring_does_not_distinguish(run, runs_folder) -> None:
    gripper = Run.load(next(DEMO.iterdir())).states("train")
    small = gripper.pick(whole_instances(gripper, 40))
    for data in (run.states("train"), some_blocks(runs_folder), small):
        analysis = Expressivity.of(data)
        found = counted(analysis)
        for name in ("1-WL", "1-WL set+G", "1-WL joint"):
            colouring = COLOURINGS[name]
            pairs = [pair for classes in analysis.classes for pair in combinations(classes, 2)]
            same = [
                pair
                for pair in pairs
                if not colouring.distinguishes(
                    data.structures(analysis.representative[list(pair)], goal_marking=colouring.marked)
                )
            ]
            differ = [pair for pair in same if analysis.v_star[pair[0]] != analysis.v_star[pair[1]]]
            assert found[name] == [len(same), len(differ)]
        # Joint messages tell apart what single ones do, and 2-FWL what those do.
        for marked in ("", "+G"):
            assert found[f"2-FWL{marked}"] <= found[f"1-WL joint{marked}"] <= found[f"1-WL{marked}"]
    assert counted(Expressivity.of(run.states("train")))["1-WL"] == [2, 2]
    assert counted(Expressivity.of(run.states("train")))["1-WL joint"] == [0, 0]


def test_a_pair_is_told_apart_by_exactly_the_colourings_that_do(run) -> None:
    data = run.states("train")
    analysis = Expressivity.of(data)
    counted(analysis)
    pairs = analysis.conflicts("1-WL").pairs("V", 10)
    assert len(pairs)
    for pair in pairs:
        states = analysis.members(pair)
        assert data.state_instance[states[0]] == data.state_instance[states[1]]
        apart, unknown = analysis.distinguished_by(pair)
        assert not unknown
        for name, colouring in COLOURINGS.items():
            two = data.structures(states, goal_marking=colouring.marked)
            assert colouring.distinguishes(two) == (name in apart)
        assert "1-WL" not in apart
        assert "1-WL+G" in apart


def test_whole_instances_are_taken_and_of_a_large_one_some_states(runs_folder) -> None:
    data = some_blocks(runs_folder)
    sizes = np.bincount(data.state_instance)
    for most in (30, 60, 10_000):
        taken = np.bincount(data.state_instance[whole_instances(data, most)], minlength=len(sizes))
        assert all(taken[i] in (0, sizes[i]) for i in range(len(sizes)))
        assert 0 < taken.sum() <= most
    assert len(whole_instances(data, 3)) == 3


# What tells two states apart


def test_formulas_that_differ_are_found_and_really_differ(run) -> None:
    data = run.states("train")
    analysis = Expressivity.of(data)
    [pair, *_] = analysis.conflicts("1-WL").pairs("V", 1)
    two = data.structures(analysis.members(pair))
    found = find_short_distinctions(two)
    assert "#<at & at_G>top" in {str(one.formula) for one in found}
    assert all(one.first != one.second for one in found)
    # What 1-WL sees, counting included, says the same of both.
    assert (
        find_distinctions(two, [parse("#<at>place"), parse("#<at_G^-1><at>place"), parse("#<at^-1>car > 1")])
        == []
    )
    assert find_short_distinctions(data.structures([0, 0])) == []


def test_atoms_differ_as_little_as_names_allow(run) -> None:
    data = run.states("train")
    names = data.instances[0]["objects"]
    structure = data.structures([0])
    two = data.structures([0, 0])
    turned = np.arange(two.n_objects)
    turned[[4, 5]] = [5, 4]  # the two cars of the second state change places
    new, first, second = compare_up_to_names(two.relabel(turned), names)
    assert structure.n_objects == 4
    assert (first, second) == ([], [])
    assert set(new) <= set(names)
    _, first, second = compare_up_to_names(data.structures([1, 2]), names)
    assert len(first) == len(second) > 0


def test_sentences_follow_the_numbers() -> None:
    v_star = np.array([1, 2, 2])
    some, none = Conflicts([[0, 1], [1, 2]], v_star), Conflicts([], v_star)
    found = {"1-WL": some, "1-WL+G": some, "1-WL set": some, "1-WL joint": none, "2-FWL": none}
    told = changes(found, goal_marking=False)
    assert told[0].startswith("1 pair of states has")
    assert "With goals marked, 1 V-conflict remains." in told
    assert "With joint messages, no V-conflict remains." in told
    told = changes({**found, "1-WL": none}, goal_marking=False)
    assert "sufficient" in told[0]
    assert "1 V-conflicts" in told[1]
    assert changes({}, goal_marking=True) == []
    assert conflicting_colourings(found) == ["1-WL+G", "1-WL", "1-WL set"]


# The page alone


def test_the_page_counts_shows_a_pair_and_says_what_would_help(run, monkeypatch) -> None:
    at = shown("expressivity", run.folder.parent, monkeypatch, run=run.name, split="test")
    assert not at.exception
    table = frame(at, "colouring").set_index("colouring")
    assert table.loc["1-WL", ["E", "V", "E, goals marked", "V, goals marked"]].tolist() == [
        "2",
        "2",
        "0",
        "0",
    ]
    assert "no network that sums messages" in said(at, "markdown")
    assert "Distinguished by 1-WL+G" in said(at, "markdown")
    formulas = frame(at, "source")
    row = formulas[formulas["formula"] == "#<at & at_G>top"].iloc[0]
    assert sorted([row["first"], row["second"]]) == [0, 2]
    differ = next(one.value for one in at.dataframe if one.value.columns[0].startswith("only in state"))
    assert len(differ) == 2


def test_stale_choices_are_told(run, monkeypatch) -> None:
    address = {"run": run.name, "split": "test", "colouring": "9-WL", "conflict": "X", "pair": "77"}
    at = shown("expressivity", run.folder.parent, monkeypatch, **address)
    assert not at.exception
    for stale in ("9-WL", "X", "77"):
        assert f"“{stale}” does not exist" in said(at, "markdown")
    assert "Distinguished by" in said(at, "markdown")


def test_a_large_split_is_sampled_and_says_so(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("app.pages.expressivity.page.STATES", 200)
    at = shown("expressivity", tmp_path, monkeypatch, split="validation")
    assert not at.exception
    assert "of 4,770 states were analysed" in said(at, "markdown")
    assert [one.label for one in at.button if one.key == "expressivity/all"] == ["Analyse all 4,770 states"]


def test_all_states_are_looked_at_when_asked(run, monkeypatch) -> None:
    monkeypatch.setattr("app.pages.expressivity.page._sample", _few)
    at = shown("expressivity", run.folder.parent, monkeypatch, run=run.name, split="train")
    assert "4 of 13 states were analysed" in said(at, "markdown")
    at.button(key="expressivity/all").click().run()
    assert not at.exception
    assert "All 13 states of the split were analysed." in said(at, "markdown")
    assert frame(at, "colouring").set_index("colouring").loc["2-FWL", "E"] == "0"


def _few(folder: str, stamp: int, split: str) -> tuple[np.ndarray, Expressivity]:
    data = Run.load(Path(folder)).states(split)
    numbers = whole_instances(data, 4)
    return numbers, Expressivity.of(data.pick(numbers))


# State models


def test_the_classes_of_an_instance_and_one_of_them_are_shown(run, monkeypatch) -> None:
    data = run.states("train")
    model = StateModel.of(data, transitions(data), 1)
    address = {"run": run.name, "split": "train", "model": "swap3.pddl", "class": "2"}
    at = shown("expressivity", run.folder.parent, monkeypatch, **address)
    assert f"9 states in {len(model)} classes" in said(at)
    assert "2 of 2 instances can be shown" in said(at)
    pictures = [one.value for one in at.markdown if one.value.startswith("![")]
    assert any("The state model of swap3" in one for one in pictures)
    table = frame(at, "class", "by")
    after, before = model.after(2), model.before(2)
    assert table["class"].tolist() == [*model.transitions[after, 1], *model.transitions[before, 0]]
    assert table[""].tolist() == ["to"] * len(after) + ["from"] * len(before)
    assert set(table["by"]) == {"go"}
    members = frame(at, "state", "atoms")
    assert members["state"].tolist() == model.members(2).tolist()
    assert members["atoms"][0] == " ".join(data.changing_atom_names(int(model.members(2)[0])))
    at.selectbox(key="widget/class").select("0").run()
    assert not at.exception
    assert frame(at, "state", "atoms")["state"].tolist() == model.members(0).tolist()
    at.selectbox(key="widget/model").select("swap2.pddl").run()
    assert not at.exception
    assert "4 states in 3 classes" in said(at)


def test_stale_instances_and_classes_are_told(run, monkeypatch) -> None:
    address = {"run": run.name, "split": "train", "model": "swap9.pddl", "class": "99"}
    at = shown("expressivity", run.folder.parent, monkeypatch, **address)
    for stale in ("swap9.pddl", "99"):
        assert f"“{stale}” does not exist" in said(at, "markdown")
    assert "4 states in 3 classes" in said(at)


def test_a_split_without_whole_instances_says_so(monkeypatch, tmp_path) -> None:
    at = shown("expressivity", tmp_path, monkeypatch, split="test")
    assert "The split has no instance with all its states" in said(at)
    assert "distill quotient" in said(at)


# In a browser


@pytest.fixture
def swap_browser(chromium, run, tmp_path) -> Iterator[Browser]:
    with served(run.folder.parent, tmp_path / "server.txt") as address:
        context = chromium.new_context(viewport={"width": 1400, "height": 1400}, accept_downloads=True)
        found = Browser(context.new_page(), address)
        yield found
        context.close()
    assert found.errors == []
    assert found.outside == []


def test_a_link_shows_the_table_and_a_pair(swap_browser, run) -> None:
    from playwright.sync_api import expect

    link = f"expressivity?run={run.name}&split=test&colouring=1-WL&conflict=V&pair=1"
    swap_browser.open(link, "Formulas with different values in the two states:")
    page = swap_browser.page
    pictures = page.locator('[data-testid="stMain"] [data-testid="stImage"] img')
    expect(pictures).to_have_count(2)
    name, text = swap_browser.download(lambda: page.get_by_role("button", name="Conflicts as CSV").click())
    table = pd.read_csv(io.StringIO(text)).set_index("colouring")
    assert name == "conflicts-test.csv"
    assert table.loc["1-WL", "V"] == 2
    assert table.loc["1-WL", "V, goals marked"] == 0
    name, text = swap_browser.download(lambda: page.get_by_role("button", name="Atoms as CSV").click())
    atoms = pd.read_csv(io.StringIO(text))
    states = [int(column.removeprefix("only in state ")) for column in atoms.columns]
    inside = [run.states("test").atom_names(state) for state in states]
    assert set(atoms.iloc[:, 0]) <= set(inside[0])
    page.get_by_role("link", name="Open this state").nth(1).click()
    swap_browser.settled(f"State {states[1]}:")


def test_a_class_is_picked_and_its_state_is_opened(swap_browser, run) -> None:
    from playwright.sync_api import expect

    data = run.states("train")
    model = StateModel.of(data, transitions(data), 1)
    link = f"expressivity?run={run.name}&split=train&model=swap3.pddl&class=1"
    swap_browser.open(link, "States of class 1")
    page = swap_browser.page
    expect(page.get_by_alt_text("The state model of swap3.pddl")).to_be_visible()
    name, text = swap_browser.download(lambda: page.get_by_role("button", name="Transitions as CSV").click())
    assert name == "class-1-transitions.csv"
    assert len(pd.read_csv(io.StringIO(text))) == len(model.after(1)) + len(model.before(1))
    page.get_by_role("combobox", name="Class").click()
    page.get_by_role("option", name="2: V*").click()
    swap_browser.settled("States of class 2")
    assert "class=2" in page.url
    page.get_by_role("link", name="Open this state").last.click()
    swap_browser.settled(f"State {model.members(2)[0]}:")
