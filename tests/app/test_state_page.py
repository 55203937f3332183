"""The page States: numbers that add up, successors, formulas, files, bad links."""

from io import StringIO
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")

from app.session.run_index import DEMO
from distill.evaluation import Inspection
from distill.explanations import ordered_terms
from distill.jobs import RunConfig, do_job
from distill.logic import parse
from distill.planning import Domain, Instance, expand
from distill.runs import Run
from distill.structures import UNSOLVABLE
from tests.support.page_content import frame, said
from tests.support.pddl import ODD, TASK
from tests.support.state_page import asked, metrics, shown


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> Run:
    """A run without a network, on a domain with nullary and ternary atoms, a negated goal and a dead end."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "tasks").mkdir()
    (folder / "domain.pddl").write_text(ODD)
    (folder / "tasks" / "one.pddl").write_text(TASK)
    content = {
        "domain": str(folder / "domain.pddl"),
        "train": str(folder / "tasks"),
        "test": str(folder / "tasks"),
        "distillation": {"pool": "enumerate", "time_limit": 5.0, "rounds": 0},
        "evaluation": {"max_steps": 20},
    }
    config = RunConfig.from_mapping(content, Path(), lambda *keys: "a test")
    return do_job(config, folder / "runs", cache=folder / "cache")


# Numbers


@pytest.mark.parametrize(("split", "state"), [("train", 30_000), ("test", 15_000), ("validation", 0)])
def test_numbers_are_those_of_the_run_and_terms_add_up(demo, monkeypatch, split, state) -> None:
    at = shown(DEMO, monkeypatch, run=demo.name, split=split, state=str(state))
    known = demo.predictions().query(f"split == '{split}' and state == {state}").iloc[0]
    terms = frame(at, "weight", "contribution", "feature")
    assert terms["contribution"].sum() == pytest.approx(known["value"])
    assert (terms["weight"] * terms["value"] == terms["contribution"]).all()
    assert len(terms) == len(demo.value_function.terms()) + 1  # and the constant
    assert metrics(at) == {
        "V*": str(known["v_star"]),
        "Network": f"{known['network']:.3f}",
        "ValueFunction": f"{known['value']:g}",
    }


def test_successors_are_ranked_and_the_choices_marked(demo, monkeypatch) -> None:
    at = shown(DEMO, monkeypatch, run=demo.name, split="train", state="30000")
    table = frame(at, "action", "by value")
    data = demo.states("train")
    looked = Inspection(data, int(data.state_instance[30_000]), demo.value_function)
    found = {one.action: one for one in looked.successors(looked.stored(30_000))}
    assert set(table["action"]) == set(found)
    assert table["value"].is_monotonic_increasing
    for row in table.itertuples():
        assert row.value == found[row.action].value
        assert table["V*"][row.Index] == found[row.action].state.v_star
        assert row.state == found[row.action].state.number
    chosen = table[table["by value"] == "▶"]
    assert len(chosen) == 1
    assert chosen["value"].item() == table["value"].min()
    assert chosen["action"].item() == looked.plan(looked.stored(30_000)).actions[0]
    stays = table[table["action"].str.match(r"\(move (\S+) \1\)")]
    assert len(stays) == 1
    assert (stays[["by V*", "by network", "by value"]] == "").all(axis=None)


@pytest.mark.slow
def test_a_run_without_a_network_with_dead_ends_and_other_arities(odd, monkeypatch) -> None:
    data = odd.states("train")
    store = odd.folder.parent
    for state, v_star in enumerate(data.v_star.tolist()):
        at = shown(store, monkeypatch, run=odd.name, split="train", state=str(state), plan="greedy")
        assert not at.error
        assert metrics(at)["V*"] == ("dead end" if v_star == UNSOLVABLE else str(v_star))
        assert "Network" not in metrics(at)
        assert "network" not in frame(at, "action", "by value").columns
        if v_star == UNSOLVABLE:
            assert "no policy can: a dead end" in said(at)
        if v_star == 0:
            assert "The goal holds in this state" in said(at)
    at = shown(store, monkeypatch, run=odd.name, split="train", formula="<way[0,2]>top")
    assert "It holds of 2 of 4 objects: a, b" in said(at)
    assert np.isinf(frame(at, "action", "by V*")["V*"].astype(float)).sum() == 1


# Formulas


def test_objects_with_the_formula_are_counted_and_stand_out(demo, monkeypatch) -> None:
    address = {"run": demo.name, "split": "train", "state": "30000"}
    at = shown(DEMO, monkeypatch, **address, formula="<at^-1><at_G>room")
    assert "It holds of 1 of 8 objects: room1" in said(at)
    parts = frame(at, "object", "<at_G>room")
    data = demo.states("train")
    names = data.instances[data.state_instance[30_000]]["objects"]
    assert parts["object"].tolist() == names
    assert parts.loc[parts["<at^-1><at_G>room"] == "✓", "object"].tolist() == ["room1"]
    assert parts.loc[parts["room"] == "✓", "object"].tolist() == ["room1", "room2"]
    at = shown(DEMO, monkeypatch, **address, formula="#<at_G>top * [#free > 0]")
    assert "Its value here: 0" in said(at)
    assert frame(at, "part", "here").set_index("part")["here"].to_dict() == {
        "#free": "0",
        "[#free > 0]": "no",
        "#<at_G>top": "1",
        "#<at_G>top*[#free > 0]": "0",
    }
    at = shown(DEMO, monkeypatch, **address, formula="[#free > 0]")
    assert "It does not hold in this state." in said(at)


def test_a_formula_of_the_run_is_a_click_away(demo, monkeypatch) -> None:
    at = shown(DEMO, monkeypatch, run=demo.name, split="train", state="30000")
    offered = at.selectbox(key="state/terms").options
    assert "-5 · #<at & at_G>room" in offered
    assert "<at & at_G>room" in offered
    assert "free" in offered  # from inside a product
    at.selectbox(key="state/terms").select_index(offered.index("<at & at_G>room")).run()
    assert asked(at, "formula") == "<at & at_G>room"
    assert "It holds of 0 of 8 objects" in said(at)
    at.text_input(key="state/formula").set_value("").run()
    assert asked(at, "formula") == ""


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("<on", "expected"),
        ("#(", ""),
        ("nothing-like-it", "There is no predicate"),
        ("<at", ""),
        ("at", "has 2 arguments"),
        ("no:99999", "There is no formula 99999"),
        ("__import__('os')", ""),
    ],
)
def test_a_formula_that_says_nothing_is_told_and_the_rest_is_shown(demo, monkeypatch, formula, told) -> None:
    at = shown(DEMO, monkeypatch, run=demo.name, split="train", state="3", formula=formula)
    assert at.warning
    assert told in said(at)
    assert len(frame(at, "action", "by value"))
    assert metrics(at)["V*"] == str(demo.states("train").v_star[3])


# What is not there


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"state": "44445"}, "There is no state “44445” in the split train"),
        ({"state": "-1"}, "There is no state"),
        ({"state": "seven"}, "There is no state “seven”"),
        ({"split": "nowhere"}, "does not exist"),
        ({"instance": "99"}, ""),
        ({"v_star": "77"}, ""),
        ({"order": "beauty"}, "does not exist"),
        ({"drawing": "cubism"}, "does not exist"),
        ({"search": "(at ball1"}, "is no atom"),
        ({"search": "(at ball99 room1)"}, "an object ball99"),
        ({"plan": "greedy", "step": "99"}, "The plan has no step “99”"),
        ({"plan": "other"}, ""),
    ],
)
def test_a_stale_link_shows_something_and_says_so(demo, monkeypatch, wrong, told) -> None:
    at = shown(DEMO, monkeypatch, **{"run": demo.name, "split": "train", **wrong})
    assert told in said(at)
    assert not at.error
    assert len(frame(at, "action", "by value"))


def test_a_state_that_nobody_has_is_told(blocks, monkeypatch) -> None:
    search = "(holding b1) (handempty)"
    at = shown(blocks.folder.parent, monkeypatch, run=blocks.name, search=search)
    assert "No state satisfies these conditions" in said(at)
    assert len(frame(at, "action", "by value"))


def test_a_graph_beyond_reading_is_a_sentence_and_the_rest_is_shown(demo, monkeypatch) -> None:
    monkeypatch.setattr("app.drawings.graph.MOST_OBJECTS", 7)
    at = shown(DEMO, monkeypatch, run=demo.name, split="train", state="30000", drawing="graph")
    assert "a graph of more than 7 is unreadable" in said(at)
    assert len(frame(at, "weight", "contribution"))


# In a browser


def test_a_link_shows_the_state_and_gives_files(browser, demo) -> None:
    from playwright.sync_api import expect

    browser.open(f"state?run={demo.name}&split=train&state=30000&formula=%3Cat_G%3Etop", "Successors")
    picture = browser.page.get_by_role("img", name="Rooms: room1 with ball1")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 300  # the browser could read it
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="SVG").click())
    assert name == "train-state30000.svg"
    root = ElementTree.fromstring(text)  # noqa: S314
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"ball1", "ball2"} <= set(texts)
    assert any(text.endswith("→ room2") for text in texts)
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="PDDL").click())
    data = demo.states("train")
    again = expand(Instance(Domain(data.domain), text, name), 100_000)
    assert sorted(again.atom_names(0)) == sorted(data.atom_names(30_000))
    assert again.v_star[0] == data.v_star[30_000]
    with browser.page.expect_download() as waiting:
        browser.page.get_by_role("button", name="PNG").click()
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="Terms as CSV").click())
    assert (name, pd.read_csv(StringIO(text))["contribution"].sum()) == ("train-state30000-terms.csv", 5)


def test_a_formula_is_typed_a_plan_played_and_a_link_followed(browser, blocks) -> None:
    from playwright.sync_api import expect

    table = blocks.predictions().query("split == 'train' and v_star > 1")
    state = int(table["state"].iloc[0])
    browser.open(f"state?run={blocks.name}&split=train&state={state}", "Successors")
    expect(browser.page.get_by_role("img", name="Towers:")).to_be_visible()
    typed = browser.page.get_by_label("Formula", exact=True)
    typed.fill("<on>top")
    typed.press("Enter")
    browser.settled("It holds of")
    browser.page.get_by_role("button", name="Play the greedy plan").click()
    browser.settled("the first state")
    before = browser.page.get_by_role("img", name="Towers:").get_attribute("src")
    browser.page.get_by_role("button", name="Forward").click()
    browser.settled("Step 1 of")
    expect(browser.page.get_by_role("img", name="Towers:")).not_to_have_attribute("src", before)
    address = parse_qs(urlsplit(browser.page.url).query)
    assert {key: address[key] for key in ("formula", "state", "plan", "step")} == {
        "formula": ["<on>top"],
        "state": [str(state)],
        "plan": ["greedy"],
        "step": ["1"],
    }
    browser.page.get_by_role("link", name="Open it on the page Formulas").click()
    browser.page.wait_for_url("**/formulas?**")
    assert parse_qs(urlsplit(browser.page.url).query)["formula"] == ["<on>top"]


def test_rows_lead_to_a_successor_and_to_a_formula_in_the_same_tab(browser, demo) -> None:
    browser.open(f"state?run={demo.name}&split=train&state=30000&v_star=5", "Successors as CSV")
    data = demo.states("train")
    looked = Inspection(data, int(data.state_instance[30_000]), demo.value_function)
    found = sorted(looked.successors(looked.stored(30_000)), key=lambda one: one.value)  # as in the table
    terms, successors = (browser.page.get_by_test_id("stDataFrame").nth(place) for place in range(2))
    # Each row and the heading are 35 pixels high; the box is at the left.
    successors.click(position={"x": 16, "y": 35 * 2 + 18})
    browser.page.wait_for_url(f"**state={found[1].state.number}**")
    browser.settled(f"State {found[1].state.number}:")
    assert "v_star=" not in browser.page.url  # which the new state does not have
    terms.click(position={"x": 16, "y": 35 + 18})
    browser.page.wait_for_url("**/formulas?**")
    _, feature = ordered_terms(demo.value_function.value)[0]
    assert parse(parse_qs(urlsplit(browser.page.url).query)["formula"][0]) == feature
    assert len(browser.page.context.pages) == 1
