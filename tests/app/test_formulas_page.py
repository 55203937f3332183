"""The page Formulas: the list and its filters, the card of a formula, and formulas that users type."""

import re
from io import StringIO
from urllib.parse import parse_qs, urlencode, urlparse

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from app.components.histogram import histogram
from app.pages.formulas.distribution import largest
from app.pages.formulas.state_editor import read_state
from app.pages.formulas.syntax_graph import graphviz_source, levels, parts_of, rows
from app.session.run_index import DEMO, STORE
from distill.common import InputError
from distill.explanations import Catalogue
from distill.logic import Count, Evaluator, Modal, Role, parse
from distill.runs import Run
from distill.structures import Predicate, Vocabulary
from tests.support.commands import PATIENCE
from tests.support.page_content import pictured, preformatted

DEMO_RUN = next(folder.name for folder in DEMO.iterdir() if (folder / "model.json").exists())
TERM = "#(~at-robby & <at^-1><at_G>room)"  # a term of the run that comes along
WORDS = Vocabulary(
    [
        Predicate("clear", 1),
        Predicate("on", 2),
        Predicate("handempty", 0, "nullary"),
        Predicate("on_G", 2, "goal"),
        Predicate("clear_nG", 1, "goal"),
    ]
)


def _page() -> None:
    from app.pages.formulas.page import show

    show()


@pytest.fixture
def shown(runs_folder, monkeypatch):
    """The page with an address: `shown(formula=…)`; the run that comes along unless another one is given."""
    monkeypatch.setenv(STORE, str(runs_folder))

    def show(**address: str) -> AppTest:
        page = AppTest.from_function(_page, default_timeout=PATIENCE)
        for key, value in {"run": DEMO_RUN, **address}.items():
            page.query_params[key] = value
        page.run()
        assert not page.exception
        return page

    return show


def texts(page: AppTest) -> str:
    kinds = (page.text, page.error, page.info, page.caption, page.markdown)
    return "\n".join([*(str(element.value) for kind in kinds for element in kind), *preformatted(page)])


def address(page: AppTest, key: str) -> str:
    value = page.query_params[key]
    return value if isinstance(value, str) else value[0]


def listed(page: AppTest) -> list[str]:
    return list(page.dataframe[0].value["formula"])


def test_all_formulas_are_listed_terms_first(shown) -> None:
    page = shown()
    run = Run.load(DEMO / DEMO_RUN)
    catalogue = Catalogue(run.value_function)
    assert f"{len(catalogue)} of {len(catalogue)} formulas" in texts(page)
    assert len(listed(page)) == 100
    terms = {str(feature.number) for _, feature in run.value_function.terms()}
    assert set(listed(page)[: len(terms)]) == terms
    assert "Click a formula in the list" in texts(page)


def test_filters_come_from_the_address_and_go_there(shown) -> None:
    page = shown(find="robby", predicate="at", kind="numerical combined", used="yes", largest="4")
    assert listed(page) == ["#<at^-1><at_G>at-robby"]
    page.text_input(key="formulas/find").set_value("room").run()
    assert listed(page) == ["#<at^-1><at_G>room"]
    assert address(page, "find") == "room"
    page.multiselect(key="formulas/predicate").set_value(["at", "ball"]).run()
    assert address(page, "predicate") == "at ball"
    assert "No formula satisfies all conditions" in texts(page)
    page.button(key="formulas/reset").click().run()
    assert not {"find", "predicate", "kind", "used", "largest"} & set(page.query_params)
    assert len(listed(page)) == 100


def test_layers_are_distinguished_by(shown) -> None:
    page = shown(layer="3", used="no")
    table = page.dataframe[0].value
    assert set(table["layer"]) == {"3"}
    assert set(table["used"]) == {"no"}
    assert shown(layer="-1").dataframe[0].value["layer"].unique().tolist() == ["states"]


def test_stale_filters_are_told_and_left_out(shown) -> None:
    page = shown(predicate="zap*zap at", layer="77", largest="many", used="perhaps", kind="objects")
    assert r"zap\*zap” does not occur in this run" in texts(page)
    assert "77” does not occur in this run" in texts(page)
    assert address(page, "predicate") == "at"
    assert listed(page)


def test_the_card_of_a_term(shown) -> None:
    page = shown(formula=TERM)
    said = texts(page)
    assert "the number of objects that are not at-robby and are linked by at backwards" in said
    assert "Provenance: layer 2, tree 0, leaves 4." in said
    assert "~at-robby & <at^-1><at_G>room & ~(at-robby & <at_G^-1>ball)" in said  # what the tree said
    for value in ("7", "2", "C2", "numerical", "1"):
        assert value in [element.value for element in page.text]
    states = page.dataframe[1].value
    values = Evaluator(Run.load(DEMO / DEMO_RUN).states("train").structures()).number(parse(TERM))
    assert len(states)
    for state, value in zip(states["state"], states["value"], strict=True):
        assert values[state] == value == values.max()


def test_a_typed_formula_has_a_card(shown) -> None:
    page = shown(formula="exists y (at(x,y) & ball(y))", split="test")
    assert "not in this run" in texts(page)
    assert "an object that is linked by at to an object that is ball" in texts(page)
    assert page.selectbox(key="widget/split").value == "test"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("#(<at", "Column 6"),
        ("<zap>top", "no predicate 'zap'"),
        ("at", "so it holds of no single object"),
        ("no:9999", "There is no formula 9999"),
        ("@gripper/../../secret", "gripper"),
        ("1 + __import__('os').getpid()", "Column"),
    ],
)
def test_bad_formulas_get_a_sentence(shown, formula, message) -> None:
    page = shown(formula=formula)
    assert message.replace("'", "") in "\n".join(
        e.value.replace("\\", "").replace("'", "") for e in page.error
    )
    assert listed(page)


@pytest.mark.parametrize("card", ["On the data", "Neighbours", "Inside", "Simplify", "Try it", "nonsense"])
@pytest.mark.parametrize(
    "formula", ["clear", "[#holding > 0]", "#<on+>clear * 2 - 1", "dist(clear, on, ontable)"]
)
def test_every_section_of_every_sort_of_formula(shown, runs_folder, card, formula) -> None:
    run = sorted(folder.name for folder in runs_folder.iterdir() if (folder / "model.json").exists())[0]
    page = shown(run=run, formula=formula, card=card, simplify="search", notation="english")
    assert not page.error


def test_neighbours_are_compared_on_training_states(shown) -> None:
    page = shown(formula="~at-robby & <at^-1><at_G>room & ~(at-robby & <at_G^-1>ball)", card="Neighbours")
    table = page.dataframe[1].value
    assert table["formula"][0] == "~at-robby & <at^-1><at_G>room"
    assert table["relation"][0] == "equivalent"
    assert "2,000 of the 44,445 training states" in texts(page)


def test_parts_open_step_by_step(shown) -> None:
    page = shown(formula=TERM, card="Inside")
    assert page.button(key="inside/row/").label == "▾ number of objects with"
    page.button(key="inside/row/0").click().run()
    assert address(page, "open") == "r r.0"
    assert page.button(key="inside/row/0.1").label.startswith("▸")
    page.button(key="inside/card/0.1").click().run()
    assert address(page, "formula") == "<at^-1><at_G>room"
    page.button(key="inside/none").click().run()
    assert page.button(key="inside/row/").label.startswith("▸")
    assert [button for button in page.button if button.key == "inside/row/0"] == []


def test_nonsense_about_what_is_open_is_ignored(shown) -> None:
    page = shown(formula=TERM, card="Inside", open="r r.7 r.x.1 no r.999999999999")
    assert page.button(key="inside/row/0").label.startswith("▸")
    assert not shown(formula=TERM, card="Inside", inside="Graph", levels="x").error


def test_simplified_step_by_step(shown) -> None:
    page = shown(formula="#(~~room & top & ~(at-robby & ~at-robby & ball))", card="Simplify")
    page.button(key="simplify/laws").click().run()
    assert "Equivalent on all states." in texts(page)
    page.button(key="simplify/use").click().run()
    assert address(page, "formula") == "#room"
    assert "no shorter formula was found" in texts(page)
    page = shown(formula="#(room & <at^-1><at_G>(room | ball))", card="Simplify")
    page.button(key="simplify/search").click().run()
    assert re.search(r"Equivalent on \d+ classes of the data, and the same in all 44,445 states", texts(page))


def test_a_state_of_ones_own(shown) -> None:
    page = shown(formula="at-robby", card="Try it", state="17")
    atoms = page.text_area[0].value
    assert "(at-robby room2)" in atoms
    assert "room2" in preformatted(page)
    assert "The robot is in room2" in pictured(page)
    page.text_area[0].set_value(atoms.replace("(at-robby room2)", "(at-robby room1)")).run()
    assert "room1" in preformatted(page)
    assert "The robot is in room1" in pictured(page)
    linked = shown(formula="at-robby", card="Try it", state="17", atoms=address(page, "atoms"))
    assert "room1" in preformatted(linked)
    page.text_area[0].set_value("(at-robby)").run()
    assert "Line 1\\: at\\-robby takes 1 object, not 0" in page.error[0].value
    page.button(key="own state/undo").click().run()
    assert page.text_area[0].value == atoms
    assert "atoms" not in page.query_params


def test_objects_are_added_to_a_state(shown) -> None:
    page = shown(formula="#ball", card="Try it", state="17")
    before = float(page.metric[0].value)
    page.text_input(key="own state/objects").set_value("extra9").run()
    assert address(page, "objects") == "extra9"
    assert float(page.metric[0].value) == before  # nothing is known of it yet
    atoms = page.text_area[0].value
    page.text_area[0].set_value(atoms + "\n(ball extra9)\n(at extra9 room1)").run()
    assert float(page.metric[0].value) == before + 1
    assert "extra9" in pictured(page)
    page.text_input(key="own state/objects").set_value("no(name").run()
    assert "is not a valid name of an object" in texts(page)
    page.button(key="own state/undo").click().run()
    assert not {"atoms", "objects"} & set(page.query_params)


def test_edits_belong_to_one_state(shown) -> None:
    page = shown(formula="at-robby", card="Try it", state="17", atoms="(at-robby room1)")
    page.number_input(key="own state/number").set_value(18).run()
    assert address(page, "state") == "18"
    assert "atoms" not in page.query_params
    assert len(page.text_area[0].value.splitlines()) > 5


def test_a_state_that_is_not_there(shown) -> None:
    page = shown(formula="at-robby", card="Try it", state="99999999")
    assert "There is no state" in texts(page)
    assert page.number_input(key="own state/number").value == 0


def read(*lines: str, marked: bool = False):
    return read_state("\n".join(lines), WORDS, ["a", "b"], marked).decode(0, ["a", "b"])


def test_atoms_are_read() -> None:
    assert read("(on a b)", "", "clear a ; on top", "(handempty)", "(handempty)") == [
        ("clear", ("a",)),
        ("on", ("a", "b")),
        ("handempty", ()),
    ]


def test_goals_are_marked_by_what_holds() -> None:
    found = read(
        "(on a b)", "(on_G a b)", "(on_G b a)", "(clear a)", "(clear_nG a)", "(clear_nG b)", marked=True
    )
    assert ("on_G,T", ("a", "b")) in found
    assert ("on_G,F", ("b", "a")) in found
    assert ("clear_nG,F", ("a",)) in found
    assert ("clear_nG,T", ("b",)) in found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(on a)", "Line 2: on takes 2 objects, not 1; write it as (on a b)."),
        ("(cleer a)", "Line 2: There is no predicate 'cleer'; did you mean clear?"),
        ("(on a z)", "Line 2: the instance has no object z; choose from a, b."),
        ("(on a b) (clear a)", "Line 2: “(on a b) (clear a)” is no atom"),
        ("()", "Line 2: “()” is no atom"),
        ("(on a b", "Line 2: “(on a b” is no atom"),
    ],
)
def test_bad_atoms_are_told_with_their_line(line, message) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read("(clear a)", line)


def test_rows_follow_what_is_open() -> None:
    formula = parse("2*#(clear & <on>holding) - [#holding > 1] + 3")
    assert [(row.path, row.text) for row in rows(formula, {(), (0,)})] == [
        ((), "sum of"),
        ((0,), "2 × number of objects with"),
        ((0, 0), "clear & <on>holding"),
        ((1,), "−1 × [#holding > 1]"),
        ((2,), "3"),
    ]
    assert levels(formula) == 4
    assert parts_of(parse("[#holding > 1]")) == ("more than 1 objects with", [("", parse("holding"))])


def test_what_is_shared_is_drawn_once() -> None:
    formula = parse("<on>clear & <on^-1>clear")
    assert graphviz_source(formula, 9).count("[label=") == 4
    assert graphviz_source(formula, 9, shared=False).count("[label=") == 5
    assert graphviz_source(formula, 1).count("[label=") == 3
    huge = parse("clear")
    for _ in range(100):
        huge = Modal(Role("on"), huge) & Modal(Role("on", 1, 0), huge)
    assert graphviz_source(Count(huge), 30).count("[label=") < 200
    assert graphviz_source(Count(huge), 30, shared=False).count("[label=") < 200
    assert len(rows(Count(huge), {()})) == 2


def test_numbers_behind_the_histogram() -> None:
    table = histogram(np.arange(1000))
    assert table["states"].sum() == 1000
    assert len(table) == 20
    assert histogram(np.array([0.5, 0.5, -1])).to_dict("list")["value"] == ["-1", "0.5"]


@pytest.mark.parametrize("n", [1, 3, 10])
def test_the_states_where_it_is_largest(n) -> None:
    values = np.random.default_rng(0).integers(0, 4, 40)
    found = largest(values, n)
    assert len(set(found.tolist())) == n
    assert sorted(values[found], reverse=True) == values[found].tolist() == sorted(values, reverse=True)[:n]


def link(**address: str) -> str:
    return f"formulas?{urlencode({'run': DEMO_RUN, **address})}"


def test_a_click_in_the_list_opens_a_card(browser) -> None:
    browser.open(link(find="at-robby", used="yes"), "features of states")
    place = browser.page.locator('[data-testid="stDataFrame"]').first.bounding_box()
    browser.page.mouse.click(place["x"] + 60, place["y"] + 35 + 17)  # the first row
    browser.settled("In words")
    assert "formula=" in browser.page.url
    assert "the number of objects that are linked by at backwards" in browser.text()
    name, content = browser.download(lambda: browser.page.get_by_role("button", name="List as CSV").click())
    assert name == "formulas.csv"
    table = pd.read_csv(StringIO(content))
    catalogue = Catalogue(Run.load(DEMO / DEMO_RUN).value_function)
    assert table["formula"].tolist() == [str(e.formula) for e in catalogue.find("at-robby", used=True)]


def test_a_formula_is_exported_and_its_states_are_linked(browser) -> None:
    browser.open(link(formula=TERM), "States where it is largest")
    browser.page.get_by_role("button", name="Export").click()
    name, content = browser.download(lambda: browser.page.get_by_role("button", name="ascii").click())
    assert (name, content.strip()) == ("formula.txt", TERM)
    browser.page.keyboard.press("Escape")
    browser.page.get_by_text("Open the first state").click()
    browser.page.wait_for_url("**/state?**")
    asked = parse_qs(urlparse(browser.page.url).query)
    assert (asked["formula"], asked["split"], asked["state"]) == ([TERM], ["train"], ["1"])


def test_a_graph_is_drawn_without_the_outside(browser) -> None:
    browser.open(link(formula=TERM, card="Inside", inside="Graph"), "drawn once")
    browser.page.wait_for_selector('[data-testid="stGraphVizChart"] svg')
    assert browser.page.locator('[data-testid="stGraphVizChart"] svg g.node').count() == 7


def test_atoms_are_edited(browser) -> None:
    browser.open(link(formula="at-robby", card="Try it", state="17"), "Atoms")
    area = browser.page.get_by_label("Atoms")
    area.fill("(at-robby room1)\n(at-robby)")
    area.press("Control+Enter")
    browser.settled("Line 2: at-robby takes 1 object, not 0")
    area.fill("(at-robby room1)")
    area.press("Control+Enter")
    browser.settled("Undo all edits")
    browser.page.get_by_text("Line 2").wait_for(state="detached")
    assert parse_qs(urlparse(browser.page.url).query)["atoms"] == ["(at-robby room1)"]
