"""The page Value function: what terms do, every notation, what is long or damaged, and downloads."""

import json
import shutil
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from app.components.equation import term_text
from app.pages.value.contributions import (
    OTHERS,
    Effects,
    ValueTerm,
    contribution_rows,
    effects,
    effects_of,
    terms_of,
)
from app.pages.value.page import pool_sentences
from app.pages.value.term_table import sort_terms, term_texts, terms_table
from app.session.run_session import RunSession
from app.session.selection import NOTATIONS
from distill.explanations import FORMS, Provenance, StateFeature, express, ordered_terms
from distill.logic import Constant, Evaluator, parse
from distill.logic.notation.defined_parser import parse_defined
from distill.runs import Run
from tests.support.commands import PATIENCE
from tests.support.page_content import preformatted


@pytest.fixture(scope="module")
def run(runs_folder) -> RunSession:
    folder = sorted(runs_folder.glob("blocks-*"))[0]
    return RunSession(folder, (folder / "inputs.json").stat().st_mtime_ns)


def variant(run: RunSession, store: Path, value: str, name: str = "variant") -> RunSession:
    """The same run with another value function, in a folder of its own."""
    value = value if "V = " in value else f"V = {value}"
    place = Path(shutil.copytree(run.folder, store / name))
    number = parse_defined(value)
    pool = tuple(
        StateFeature(feature, "numerical", Provenance(1, 0, (1, 2)))
        for _, feature in ordered_terms(number)
        if not isinstance(feature, Constant)
    )
    replace(run.value_function, value=number, pool=pool).save(place / "model.json")
    return RunSession(place, (place / "inputs.json").stat().st_mtime_ns)


def shown(run: RunSession, monkeypatch, **address: str) -> AppTest:
    monkeypatch.setenv("DISTILL_STORE", str(run.folder.parent))
    page = AppTest.from_string("from app.pages import value\nvalue.show()", default_timeout=PATIENCE)
    for key, text in {"run": run.name, **address}.items():
        page.query_params[key] = text
    return page.run()


def codes(page: AppTest) -> list[str]:
    return preformatted(page)


# What terms do


def test_terms_are_those_of_the_value_function_and_its_constant_is_last(run) -> None:
    terms = terms_of(run)
    assert [(term.weight, term.number) for term in terms] == ordered_terms(run.value_function.value)
    assert [term.place for term in terms if term.place] == list(range(1, len(run.value_function.terms()) + 1))
    assert {term.number for term in terms if term.feature} == {
        f.number for _, f in run.value_function.terms()
    }


@pytest.mark.parametrize("split", ["train", "test"])
def test_what_terms_add_is_the_value_function(run, split) -> None:
    terms, found, table = terms_of(run), effects_of(run, split), run.table()
    table = table[(table["split"] == split) & (table["v_star"] >= 0)]
    weights = np.array([term.weight for term in terms], dtype=float)
    by_v_star = table.groupby("v_star")["value"]
    assert found.v_star.tolist() == by_v_star.mean().index.tolist()
    assert found.count.tolist() == by_v_star.count().tolist()
    assert weights @ found.by_v_star == pytest.approx(by_v_star.mean().to_numpy())
    assert weights @ found.mean == pytest.approx(table["value"].mean())


def test_how_often_terms_fire_is_counted_state_by_state(run) -> None:
    terms, found, data = terms_of(run), effects_of(run, "train"), run.states("train")
    fired = np.zeros(len(terms))
    known = np.flatnonzero(data.v_star >= 0)
    for state in known:
        alone = Evaluator(data.structures([state], goal_marking=run.value_function.goal_marking))
        fired += [alone.number(term.number)[0] != 0 for term in terms]
    assert found.fires == pytest.approx(fired / len(known))


def test_states_without_v_star_are_left_out(run) -> None:
    evaluator = Evaluator(run.structures("train"))
    number = parse("#ontable")
    v_star = run.states("train").v_star.copy()
    v_star[::2] = -1
    found = effects([number], evaluator, v_star)
    assert found.states == (v_star >= 0).sum()
    assert found.mean[0] == pytest.approx(evaluator.number(number)[v_star >= 0].mean())
    nothing = effects([number], evaluator, np.full_like(v_star, -1))
    assert nothing.states == 0
    assert nothing.by_v_star.shape == (1, 0)


def test_terms_that_add_little_are_drawn_as_one_above_and_one_below() -> None:
    terms = [ValueTerm(place, weight, parse("#a"), None) for place, weight in enumerate((5, 2, 1, -1), 1)]
    values = np.array([[1.0, 2.0], [1.0, 0.0], [1.0, 1.0], [3.0, 0.0]])
    found = Effects(5, np.array([0, 4]), np.array([3, 2]), values.mean(axis=1), values.mean(axis=1), values)
    table = contribution_rows(terms, found, list("wxyz"), 1)
    assert table.groupby("v_star")["contribution"].sum().tolist() == [5.0, 11.0]
    assert table["term"].unique().tolist() == ["w", OTHERS]
    others = table[(table["term"] == OTHERS) & (table["v_star"] == 0)]
    assert sorted(others["contribution"]) == [-3.0, 3.0]
    assert OTHERS not in set(contribution_rows(terms, found, list("wxyz"), 3)["term"])


@pytest.mark.parametrize(
    ("label", "mode", "words"),
    [
        ("ridt", "readable", ["come from trees on the network"]),
        ("ridt+polish", "readable", ["rewritten in fewer symbols"]),
        ("enumerate", "readable", ["enumerated short formulas"]),
        ("both, untrained", "readable", ["enumerated", "untrained network"]),
        ("ridt, permuted", "readable", ["Control: permuted embeddings", "does not depend on the network"]),
        ("ridt", "thesis", ["Mode thesis"]),
        ("strange", "readable", ["Pool strange"]),
    ],
)
def test_pool_and_control_are_explained(label, mode, words) -> None:
    told = " ".join(pool_sentences(label, mode))
    assert all(word in told for word in words)


def test_terms_are_ordered_and_found(run) -> None:
    found = {split: effects_of(run, split) for split in run.splits}
    table = terms_table(run, terms_of(run), found, term_texts(run, "english"))
    assert sort_terms(table, "weight", "train", "").equals(table)
    for order, column in (("contribution", "mean_contribution_test"), ("size", "size")):
        rows = sort_terms(table, order, "test", "")
        assert len(rows) == len(table)
        sizes = rows[column][rows["term"].notna()].abs().tolist()
        assert sizes == sorted(sizes, reverse=True)
        assert rows["term"].isna().tolist() == [*[False] * (len(rows) - 1), run.value_function.constant != 0]
    # Both the typed formula and the words that are shown are searched.
    assert 0 < len(sort_terms(table, "weight", "test", "CLEAR_G")) <= len(table)
    assert len(sort_terms(table, "weight", "test", "the number of")) > 0
    assert sort_terms(table, "fires", "test", "no such thing").empty


# The page


@pytest.mark.parametrize("form", NOTATIONS)
def test_the_equation_is_shown_in_every_notation(run, monkeypatch, form) -> None:
    page = shown(run, monkeypatch, notation=form)
    assert not page.exception
    assert not page.error
    text = express(run.value_function.value, form, run.vocabulary, run.run.bounds_in(form))
    if form == "latex":
        assert text in page.latex[0].value
    else:
        assert codes(page)[0] == text
    assert term_text(terms_of(run)[0].number, run, form) in [
        *codes(page),
        *(latex.value.strip("$\n") for latex in page.latex),
        *(text.value for text in page.text),
    ]


def test_what_a_notation_cannot_say_is_told_and_shown_typed(run, tmp_path, monkeypatch) -> None:
    closures = variant(run, tmp_path, "2*#(<on+>clear_G > 1) + 1")
    page = shown(closures, monkeypatch, notation="c2")
    assert "C2 cannot express this" in page.info[0].value
    assert any("counts the ends of paths" in text.value for text in page.text)
    assert codes(page)[0] == "V = 2*#<on+>clear_G > 1 + 1"
    assert "(typed: C2 cannot express this)" in codes(page)[1]
    mixed = variant(run, tmp_path, "2*#<on+>clear_G + #holding*#<on+>clear", "mixed")
    product = terms_of(mixed)[1].number
    assert term_text(product, mixed, "c2").startswith("#holding*#<on+>clear  (typed")
    assert term_text(parse("#holding*#clear"), mixed, "c2") == "#x clear(x) · #x holding(x)"


def test_a_huge_function_is_usable(run, tmp_path, monkeypatch) -> None:
    long = "<on>" * 2_500
    terms = " + ".join(f"{number + 2}*[#<on>clear > {number}]" for number in range(60))
    huge = variant(
        run, tmp_path, f"{terms} + " + " + ".join(f"#{long}{a}" for a in ("clear", "holding", "top"))
    )
    assert huge.value_function.value.size > 7_000
    page = shown(huge, monkeypatch)
    assert not page.exception
    weights = [text.value for text in page.text if text.value.startswith("+")]
    assert weights[:2] == ["+61", "+60"]
    assert len(weights) == 8
    assert any("63 terms as a table" in expander.label for expander in page.expander)
    last = shown(huge, monkeypatch, terms_page="8")
    assert any("symbols; export" in text for text in codes(last))
    sized = shown(huge, monkeypatch, terms_by="size")
    assert "symbols; export" in codes(sized)[1]
    looked = shown(huge, monkeypatch, terms_find="clear > 17]", terms_page="5")
    assert [text.value for text in looked.text if text.value.startswith("+")] == ["+19"]


def test_one_that_nobody_can_read_is_told(run, tmp_path, monkeypatch) -> None:
    names = ["clear", *(f"A{level}" for level in range(14))]
    doubled = [f"{name} := <on>{part} | <on^-1>{part}" for part, name in pairwise(names)]
    page = shown(variant(run, tmp_path, "\n".join([*doubled, f"V = #{names[-1]} + 2*#clear"])), monkeypatch)
    assert not page.exception
    assert "too many to display" in page.info[0].value
    assert "#clear" in codes(page)


@pytest.mark.parametrize("page_number", ["0", "-3", "999", "x"])
def test_a_page_that_is_not_there(run, tmp_path, monkeypatch, page_number) -> None:
    terms = " + ".join(f"{number + 2}*[#<on>clear > {number}]" for number in range(20))
    page = shown(variant(run, tmp_path, terms), monkeypatch, terms_page=page_number, terms_by="colour")
    assert not page.exception
    assert any("colour" in info.value for info in page.info)
    assert [text.value for text in page.text if text.value.startswith("+")]


def test_a_constant_alone(run, tmp_path, monkeypatch) -> None:
    page = shown(variant(run, tmp_path, "7"), monkeypatch)
    assert not page.exception
    assert codes(page)[0] == "V = 7"
    assert any("no features" in info.value for info in page.info)


def test_states_that_cannot_be_read_take_only_their_numbers_with_them(run, tmp_path, monkeypatch) -> None:
    broken = variant(run, tmp_path, "2*#<on>clear_G + 1")
    (broken.folder / "states" / "test.npz").write_bytes(b"nothing")
    page = shown(broken, monkeypatch)
    assert not page.exception
    assert "test cannot be evaluated" in page.warning[-1].value
    assert any("of train" in caption.value and "of test" not in caption.value for caption in page.caption)
    assert codes(page)[0] == "V = 2*#<on>clear_G + 1"


def test_a_verdict_that_is_missing_and_a_run_without_report(run, tmp_path, monkeypatch) -> None:
    bare = variant(run, tmp_path, "2*#<on>clear_G + 1")
    (bare.folder / "report.html").unlink()
    metrics = json.loads((bare.folder / "metrics.json").read_text())
    (bare.folder / "metrics.json").write_text(json.dumps({**metrics, "fit": {}}))
    page = shown(bare, monkeypatch)
    assert "Nothing is known of the fit" in page.info[0].value
    assert any("has no report" in caption.value for caption in page.caption)


def test_states_in_the_way_of_an_exact_fit_are_shown_as_they_are(run, tmp_path, monkeypatch) -> None:
    blocked = variant(run, tmp_path, "2*#<on>clear_G + 1")
    metrics = json.loads((blocked.folder / "metrics.json").read_text())
    state = {"v_star": 3, "atoms": "(on *a* b_1) <b>"}
    metrics["fit"] = {"exact": False, "blocking": [state]}
    (blocked.folder / "metrics.json").write_text(json.dumps(metrics))
    page = shown(blocked, monkeypatch)
    assert page.warning[0].value.startswith("NOT exact")
    assert any("(on *a* b_1) <b>" in text.value for text in page.text)


# In the browser


def test_a_link_shows_the_notation_and_every_form_can_be_taken_away(browser, run) -> None:
    browser.open(f"value?run={run.name}&notation=emlc&split=test", "Export the value function")
    browser.settled(express(run.value_function.value, "emlc", run.vocabulary).splitlines()[0])
    whole = Run.load(run.folder)
    browser.page.get_by_role("button", name="Export the value function").click()
    for form in ("ascii", "latex", "json", "pddl"):
        file = FORMS[form].file
        button = browser.page.get_by_role("button", name=file, exact=True)
        name, text = browser.download(button.click)
        assert name == file
        assert text.rstrip("\n") == express(whole.value_function.value, form, whole.vocabulary)
        if form == "ascii":
            assert parse_defined(text) == whole.value_function.value
    browser.page.keyboard.press("Escape")
    name, text = browser.download(browser.page.get_by_role("button", name="Report (HTML)").click)
    assert name == "report.html"
    assert text == (run.folder / "report.html").read_text()


def test_tables_can_be_taken_away_and_a_term_opens_in_formulas(browser, run) -> None:
    browser.open(f"value?run={run.name}&split=test", "Open in Formulas")
    page = browser.page
    name, text = browser.download(page.get_by_role("button", name="Terms as CSV").click)
    assert name == "terms.csv"
    table = pd.read_csv(StringIO(text))
    terms = terms_of(run)
    assert table["formula"].tolist() == [str(term.number) for term in terms]
    assert table["fires_test"].dropna().tolist() == pytest.approx(
        [share for share, term in zip(effects_of(run, "test").fires, terms, strict=True) if term.place]
    )
    page.get_by_role("link", name="Open in Formulas").first.click()
    page.wait_for_url("**/formulas?*")
    browser.settled()
    asked = parse_qs(urlparse(page.url).query)
    assert asked["run"] == [run.name]
    assert parse(asked["formula"][0]) == terms[0].number


def test_figures_are_a_click_away_and_in_the_address(browser, run) -> None:
    browser.open(f"value?run={run.name}&split=test", "Open in Formulas")
    page = browser.page
    page.get_by_role("radio", name="What terms add, by V*").click()
    browser.settled("Dashed line: V*.")
    assert "part=What+terms+add" in page.url
    name, text = browser.download(page.get_by_role("button", name="Contributions as CSV").click)
    assert name == "contributions-test.csv"
    added = pd.read_csv(StringIO(text))
    assert added["v_star"].tolist() == effects_of(run, "test").v_star.tolist()
