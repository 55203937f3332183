"""The page Laboratory: typing, what a formula has to do with V*, edits and fits, files, jobs, bad links."""

import json
import shutil
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from app.pages.laboratory.association import association, association_sentences, by_v_star
from app.pages.laboratory.completion import completions, insert_completion
from app.pages.laboratory.edits import Bench, Edits
from app.pages.laboratory.exact_solve import as_edits, request
from app.session.run_index import DEMO
from app.session.run_session import RunSession
from distill.jobs import detached_jobs
from distill.logic import Evaluator, parse, read_formula
from distill.runs import Run
from distill.structures import Predicate, Vocabulary
from tests.support.commands import until
from tests.support.forged_run import NAME, forge
from tests.support.page_content import said, shown

EXACT_RUN = next(DEMO.iterdir()).name
CARRIED = "#(<at_G>room & <carry>gripper)"
WORDS = Vocabulary(
    [Predicate("on", 2), Predicate("on_G", 2, "goal"), Predicate("clear", 1), Predicate("on-table", 1)]
)


def opened(folder: Path) -> RunSession:
    return RunSession(folder, (folder / "inputs.json").stat().st_mtime_ns)


@pytest.fixture(scope="module")
def demo() -> RunSession:
    return opened(DEMO / EXACT_RUN)


@pytest.fixture
def blocks(runs_folder) -> RunSession:
    return opened(sorted(runs_folder.glob("blocks-*"))[0])


def errors(page: AppTest) -> pd.DataFrame:
    return next(one.value for one in page.dataframe if "mae, run" in one.value.columns).set_index("split")


def address(page: AppTest, key: str) -> str:
    value = page.query_params.get(key, "")
    return value if isinstance(value, str) else value[0]


def equation(page: AppTest) -> str:
    return next(code.value for code in page.code if "V = " in code.value)


# Typing


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("", ["clear", "#", "<"]),
        ("#cle", ["clear"]),
        ("#(clear & on-", ["on-table"]),
        ("<", ["on", "on_G", "id"]),
        ("<on_", ["on_G"]),
        ("<on", [">", "^-1", "on_G"]),
        ("<on>", ["clear", "~"]),
        ("dist(clear, ", ["on", "id"]),
        ("dist(clear, on, ", ["clear"]),
        ("#(clear", [")", " & "]),
        ("[#clear > 1", ["]"]),
    ],
)
def test_what_may_come_next_is_offered(text, some) -> None:
    found = [offer.text for offer in completions(text, WORDS)]
    assert set(some) <= set(found)
    if "<" in text and ">" not in text:
        assert "clear" not in found


def test_an_offer_goes_where_the_word_was_begun() -> None:
    assert insert_completion("#<on>cl", "clear") == "#<on>clear"
    assert insert_completion("clear", " & ") == "clear & "
    assert insert_completion("", "#") == "#"
    assert insert_completion('"odd na', '"odd name"') == '"odd name"'


def test_a_formula_can_be_made_with_offers_alone(demo, tmp_path, monkeypatch) -> None:
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name)
    for wanted in ("#", "<", "at", ">", "at-robby"):
        next(one for one in page.button if one.label.replace("\\", "") == wanted).click().run()
    assert address(page, "formula") == "#<at>at-robby"
    assert "In words: the number of objects that are linked by at" in said(page)


def test_a_formula_of_the_run_can_be_the_beginning(demo, tmp_path, monkeypatch) -> None:
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name)
    listed = page.selectbox(key="lab/template")
    assert len(listed.options) > 10
    listed.select(listed.options[0]).run()
    assert address(page, "formula") in {str(f.number) for _, f in demo.value_function.terms()}
    assert any(one.label == "It is already a term" and one.disabled for one in page.button)


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("#<at>at-roby", "did you mean at-robby?"),
        ("#(room & ", "expected a formula, not the end"),
        ("no:99999", "There is no formula 99999"),
        ("at^-1", "expected"),
        ("@nobody", "nobody"),
    ],
)
def test_a_bad_formula_is_told_and_the_rest_of_the_page_stays(demo, tmp_path, monkeypatch, formula, sentence):
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name, formula=formula)
    assert sentence in said(page)
    assert errors(page)["mae, run"].tolist() == [0.0, 0.0, 0.0]


# What it has to do with V*


def test_the_relation_to_v_star_is_that_of_all_states(blocks) -> None:
    number = parse("#clear")
    bench = Bench.of(blocks, [number])
    fitted = bench.edited(Edits({}, ()), "absolute")
    rows, data = bench.rows["train"], blocks.states("train")
    known = data.v_star >= 0
    states = Evaluator(blocks.structures("train"))
    values, v_star = states.number(number)[known], data.v_star[known]
    left = v_star - states.number(blocks.value_function.value)[known]
    assert bench.values(fitted, "train")[rows.row_of] == pytest.approx(v_star - left)
    found = association(
        bench.column(number, "train"), rows.v_star, bench.values(fitted, "train"), rows.counts
    )
    assert found.correlation == pytest.approx(np.corrcoef(values, v_star)[0, 1], abs=1e-6)
    wrong = np.abs(left) > 1e-6
    assert found.wrong == wrong.sum() > 0
    assert found.fires_wrong == pytest.approx((values[wrong] != 0).mean())
    # By an independent fit of the residual.
    table = np.column_stack([values, np.ones(len(values))])
    rest = left - table @ np.linalg.lstsq(table, left, rcond=None)[0]
    spread = ((left - left.mean()) ** 2).sum()
    assert found.explained == pytest.approx(1 - (rest**2).sum() / spread, abs=1e-6)
    means = pd.Series(values).groupby(v_star).agg(["mean", "min", "max", "size"])
    table = by_v_star(bench.column(number, "train"), rows.v_star, rows.counts).set_index("v_star")
    assert table["mean"].to_numpy() == pytest.approx(means["mean"].to_numpy())
    assert (
        table[["least", "most", "states"]].to_numpy().tolist()
        == means[["min", "max", "size"]].to_numpy().tolist()
    )


def test_a_formula_that_never_varies_explains_nothing_though_a_constant_would() -> None:
    found = association(np.ones(3), np.arange(3), np.arange(3) - 2, np.ones(3, dtype=int))
    assert found.wrong == 3
    assert found.explained == 0


def test_where_nothing_is_wrong_or_nothing_varies_that_is_told() -> None:
    same = association(np.ones(3), np.arange(3), np.arange(3), np.ones(3, dtype=int))
    assert same.correlation is None
    assert same.explained is None
    assert "no error is left to explain" in " ".join(association_sentences(same))
    assert "There is no correlation" in " ".join(association_sentences(same))


# Edits and fits


def test_a_removed_term_shows_its_errors_and_comes_back(demo, tmp_path, monkeypatch) -> None:
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name)
    assert "mae, edited" not in errors(page)
    assert "2*#A" in equation(page)
    page.button(key="lab/drop/2").click().run()
    assert address(page, "drop") == "2"
    found = errors(page)
    assert (found["mae, run"] == 0).all()
    assert (found["mae, edited"] > 0.2).all()
    assert "2*#A" not in equation(page)
    assert "states are wrong instead of 0" in said(page)
    page.button(key="lab/put/2").click().run()
    assert address(page, "drop") == ""
    assert "mae, edited" not in errors(page)


def test_a_term_removed_and_added_again_gives_back_the_exact_function(demo, tmp_path, monkeypatch) -> None:
    removed = "#<at^-1><at_G>room"
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name, drop="2", formula=removed)
    assert (errors(page)["mae, edited"] > 0).all()
    assert errors(page)["mae, with the formula"].tolist() == [0.0, 0.0, 0.0]
    own = shown("laboratory", tmp_path, monkeypatch, run=demo.name)
    page.button(key="lab/add").click().run()
    assert address(page, "add") == removed
    assert errors(page)["wrong, edited"].tolist() == [0, 0, 0]
    assert equation(page) == equation(own)


def test_another_formula_takes_the_place_of_a_removed_term(demo, tmp_path, monkeypatch) -> None:
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name, drop="2", add=CARRIED)
    assert errors(page)["wrong, edited"].tolist() == [0, 0, 0]
    assert "Exact on all 44,445 states of train, with whole weights" in said(page)
    assert "- 2*#(A & <carry>gripper)" in equation(page)
    assert equation(page).endswith("+ 4")
    page.button(key="lab/back/0").click().run()
    assert address(page, "add") == ""
    assert (errors(page)["mae, edited"] > 0.2).all()
    page.button(key="lab/reset").click().run()
    assert address(page, "drop") == ""


def test_several_edits_live_in_the_address(demo, tmp_path, monkeypatch) -> None:
    added = ["#free", "[#free > 1]", "clear" if "clear" in demo.vocabulary else "ball"]
    page = shown(
        "laboratory", tmp_path, monkeypatch, run=demo.name, add="\n".join(added), drop="1 3", fit="squares"
    )
    assert address(page, "add").split("\n") == added
    assert [one.label for one in page.button].count("Discard") == 3
    assert [one.label for one in page.button].count("Restore") == 2
    assert page.selectbox(key="widget/fit").value == "squares"


def test_what_adds_nothing_gets_no_weight(demo, tmp_path, monkeypatch) -> None:
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name, add="#free")
    assert "new terms get weight 0" in said(page)
    assert equation(page) == equation(shown("laboratory", tmp_path, monkeypatch, run=demo.name))


def test_without_edits_the_function_is_the_run_s_and_better_weights_are_only_told(
    blocks, monkeypatch
) -> None:
    page = shown("laboratory", blocks.folder.parent, monkeypatch, run=blocks.name)
    bench = Bench.of(blocks, [])
    own = bench.edited(Edits({}, ()), "absolute")
    assert own.value == blocks.value_function.value
    for split in blocks.splits:
        assert own.errors[split].mae == pytest.approx(blocks.run.metrics["splits"][split]["mae"])
    again = bench.fit(bench.features(Edits({}, ())), "absolute")
    assert again.errors["train"].mae <= own.errors["train"].mae
    assert ("mae, refitted" in errors(page)) == (not again.as_before)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"drop": "99"}, "There is no term 99; this function has 6"),
        ({"drop": "x 2"}, "There is no term x;"),
        ({"add": "#nothing-such"}, "#nothing-such is not added: There is no predicate"),
        ({"add": "#(("}, "#(( is not added: Column"),
        ({"state": "999999"}, "There is no state “999999” in the split train"),
        ({"split": "dream"}, "“dream” does not exist"),
        ({"fit": "guess"}, "“guess” does not exist"),
    ],
)
def test_a_stale_link_is_told_and_something_is_shown(demo, tmp_path, monkeypatch, bad, sentence) -> None:
    page = shown("laboratory", tmp_path, monkeypatch, run=demo.name, **bad)
    assert sentence in said(page)
    assert (errors(page)["mae, run"] == 0).all()


def test_terms_removed_from_one_run_are_not_removed_from_another(blocks, demo, monkeypatch) -> None:
    page = shown("laboratory", blocks.folder.parent, monkeypatch, run=demo.name, drop="2")
    page.query_params["run"] = blocks.name
    page.run()
    assert not page.exception
    assert "here all terms are used" in said(page)
    assert address(page, "drop") == ""


def test_names_that_are_markup_stay_text(runs_folder, tmp_path, monkeypatch) -> None:
    forge(sorted(runs_folder.glob("blocks-*"))[0], tmp_path)
    page = shown("laboratory", tmp_path, monkeypatch, run=NAME, formula="#holding", drop="1")
    shown_markup = [one.value for one in page.markdown]
    assert not any("<img" in text or "javascript" in text for text in shown_markup)
    assert not any("<img" in one.label.replace("\\<", "") for one in page.button)


# Jobs


@pytest.mark.slow
def test_a_solve_is_handed_to_a_process_and_its_result_is_shown(blocks, tmp_path, monkeypatch) -> None:
    store = tmp_path / "runs"
    blocks = opened(Path(shutil.copytree(blocks.folder, store / blocks.name)))
    page = shown("laboratory", store, monkeypatch, run=blocks.name, add="#<on+>clear_G\n#holding", drop="1")
    page.number_input(key="lab/seconds").set_value(2).run()
    page.button(key="lab/start").click().run()
    assert not page.exception
    [job] = [one for one in detached_jobs(store) if one.arguments[0] == "refit"]
    assert job.arguments[1:5] == (str(blocks.folder), "--add=#<on+>clear_G", "--add=#holding", "--drop=1")
    until(lambda: job.state().is_over)
    assert job.state().state == "done", job.log()
    page = shown("laboratory", store, monkeypatch, run=blocks.name)
    assert job.result()["value"] in [code.value for code in page.code]
    assert Path(job.result()["folder"]).parent == store / "refits"


def test_a_result_can_be_put_on_the_bench(demo) -> None:
    terms = [[1, "#free"], [2, "#<at & at_G>room"]]
    added, dropped = as_edits(demo, terms)
    assert added == "#free"
    assert dropped == "2 3 4 5 6"


def test_a_request_is_a_list_of_arguments_and_nothing_is_read_as_an_option(
    demo, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("DISTILL_STORE", str(tmp_path))
    edits = Edits({"--store /": parse("#free"), "$(id)": parse("#ball")}, (2,))
    found = request(demo, edits, pool=True, products=False, seconds=9)
    assert found[:5] == ["refit", str(demo.folder), "--add=--store /", "--add=$(id)", "--drop=2"]
    assert found[5:] == ["--exact", "--pool", "--seconds=9", f"--out={tmp_path}", "--json"]


# In a browser


def test_a_formula_is_edited_a_term_removed_and_the_function_exported(browser, demo) -> None:
    page = browser.page
    browser.open(f"laboratory?run={demo.name}&drop=2", "Laboratory")
    browser.settled("states are wrong instead of 0")
    field = page.get_by_label("Formula", exact=True)
    field.click()
    field.press_sequentially("#(<at_G>room & <carry>grip")
    page.get_by_role("button", name="gripper", exact=True).click()
    page.get_by_role("button", name=")", exact=True).click()
    browser.settled("In words: the number of objects that are linked by at in the goal")
    page.wait_for_url("**formula=*gripper%29*")
    page.get_by_role("button", name="Add the formula to V").click()
    browser.settled("Exact on all 44,445 states of train, with whole weights")
    page.get_by_role("button", name="Export this function").click()
    name, text = browser.download(lambda: page.get_by_role("button", name="json", exact=True).click())
    assert name == f"{demo.name}-value.json"
    data = Run.load(demo.folder).states("test")
    assert (Evaluator(data.structures()).number(read_formula(text)) == data.v_star).all()
    name, text = browser.download(lambda: page.get_by_role("button", name="The experiment (JSON)").click())
    told_experiment = json.loads(text)
    assert told_experiment["added"] == [CARRIED]
    assert told_experiment["dropped"] == [2]
    assert told_experiment["errors"]["after"]["test"]["wrong"] == 0
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove", exact=True).first.click()
    browser.settled("The mean error on train goes from 0.0000 to")
    assert "drop=1+2" in page.url
    name, text = browser.download(lambda: page.get_by_role("button", name="Errors as CSV").click())
    table = pd.read_csv(StringIO(text)).set_index("split")
    assert (table["mae, edited"] > 0).all()
    # The link alone shows the same.
    browser.open(page.url.removeprefix(f"{browser.address}/"), "The mean error on train goes from 0.0000 to")
    page.get_by_role("link", name="Open this state").click()
    browser.settled("A state with the objects of which")
    page.wait_for_url("**/state?*")
