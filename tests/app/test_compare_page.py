"""The page Compare: the basket, what runs share, metrics and settings side by side, bad links."""

import json
import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from app.pages.compare.basket import decode_names, encode_names
from app.pages.compare.page import effects_table, setting_differences
from app.pages.compare.terms import common_terms
from app.session.run_index import DEMO
from app.session.run_session import RunSession
from distill.logic import Evaluator
from distill.runs import compare_runs
from tests.support.forged_run import NAME, forge
from tests.support.page_content import said, shown

EXACT_RUN = next(DEMO.iterdir()).name


def opened(folder: Path) -> RunSession:
    return RunSession(folder, (folder / "inputs.json").stat().st_mtime_ns)


@pytest.fixture
def pair(runs_folder) -> list[RunSession]:
    """Two runs that differ in their seed."""
    return [opened(folder) for folder in sorted(runs_folder.glob("blocks-*"))[:2]]


def frame(page: AppTest, column: str) -> pd.DataFrame:
    return next(one.value for one in page.dataframe if column in one.value.columns)


def basket(page: AppTest) -> str:
    value = page.query_params.get("runs", "")
    return value if isinstance(value, str) else value[0]


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b, c", "100%", "%2C,"]])
def test_a_basket_survives_its_address(names) -> None:
    assert decode_names(encode_names(names)) == names


def test_the_basket_lives_in_the_address(pair, monkeypatch) -> None:
    store, names = pair[0].folder.parent, [run.name for run in pair]
    page = shown("compare", store, monkeypatch, run=names[0])
    assert basket(page) == names[0]
    assert "Choose two or more runs" in said(page)
    page.multiselect(key="compare/basket").select(names[1]).run()
    assert not page.exception
    assert basket(page) == ",".join(names)
    assert {"metric", *names} <= set(frame(page, "metric").columns)
    page.multiselect(key="compare/basket").unselect(names[0]).run()
    assert basket(page) == names[1]


def test_terms_are_shared_by_what_they_say_on_states(pair) -> None:
    common = common_terms(pair)
    states = Evaluator(pair[0].structures("train"))
    assert common.states == len(pair[0].structures("train"))
    assert common.apart == ()
    seen = [states.number(one.formula).tobytes() for one in common.terms]
    assert len(set(seen)) == len(seen)
    for place, run in enumerate(pair):
        # Adding up what is listed for a run gives its function.
        total = sum(
            (one.weights[place] or 0) * states.number(one.formula).astype(float) for one in common.terms
        )
        assert total + run.value_function.constant == pytest.approx(
            run.value_function.values(run.structures("train"))
        )
    # The command line shows the same terms.
    by_command = {(str(one.formula), one.weights) for one in compare_runs([run.run for run in pair]).terms}
    assert {(str(one.formula), one.weights) for one in common.terms} == by_command


def test_a_run_shares_all_terms_with_itself_written_otherwise(pair, tmp_path) -> None:
    copy = Path(shutil.copytree(pair[0].folder, tmp_path / "copy"))
    common = common_terms([pair[0], opened(copy)])
    assert {one.n_functions for one in common.terms} == {2}
    assert all(one.weights[0] == one.weights[1] for one in common.terms)


def test_runs_that_see_goals_otherwise_are_held_against_each_other_on_the_same_states(pair, tmp_path) -> None:
    copy = Path(shutil.copytree(pair[0].folder, tmp_path / "marked"))
    replace(pair[0].value_function, goal_marking=not pair[0].value_function.goal_marking).save(
        copy / "model.json"
    )
    common = common_terms([pair[0], opened(copy)])
    assert {one.n_functions for one in common.terms} == {2}


def test_settings_that_differ_and_metrics_are_side_by_side(pair, monkeypatch) -> None:
    names = [run.name for run in pair]
    page = shown("compare", pair[0].folder.parent, monkeypatch, runs=",".join(names))
    settings = frame(page, "setting").set_index("setting")
    assert settings.index.tolist() == ["distillation.seed"]
    seeds = [str(run.run.config["distillation"]["seed"]) for run in pair]
    assert settings.loc["distillation.seed", names].tolist() == seeds
    assert sorted(seeds) == ["0", "1"]
    metrics = frame(page, "metric").set_index("metric")
    for run in pair:
        assert metrics.loc["features", run.name] == str(run.run.metrics["features"])
        assert float(metrics.loc["train MAE", run.name]) == pytest.approx(
            run.run.metrics["splits"]["train"]["mae"], abs=1e-4
        )
    codes = [code.value for code in page.code]
    assert len(codes) == 2


def test_runs_of_different_domains_are_compared_as_far_as_that_goes(pair, monkeypatch) -> None:
    page = shown("compare", pair[0].folder.parent, monkeypatch, runs=f"{pair[0].name},{EXACT_RUN}")
    assert f"Other predicates than {pair[0].name}: {EXACT_RUN}" in said(page)
    table = frame(page, "formula")
    assert set(table["runs"]) == {1}
    assert len(table) == len(pair[0].value_function.terms()) + 6
    assert not page.error


@pytest.mark.parametrize("form", ["c2", "dlplan", "latex", "english"])
def test_every_notation_shows_both_functions(pair, monkeypatch, form) -> None:
    names = f"{pair[0].name},{EXACT_RUN}"
    page = shown("compare", pair[0].folder.parent, monkeypatch, runs=names, notation=form)
    assert not page.error
    assert len(page.code) + len(page.latex) == 2


def test_stale_and_damaged_runs_are_told_and_left_out(pair, tmp_path, monkeypatch) -> None:
    for run in pair:
        shutil.copytree(run.folder, tmp_path / run.name)
    (tmp_path / pair[1].name / "model.json").write_text("{")
    names = f"{pair[0].name},{pair[1].name},gone,{EXACT_RUN}"
    page = shown("compare", tmp_path, monkeypatch, runs=names)
    assert "These runs do not exist and are left out: gone" in said(page)
    assert f"{pair[1].name} is left out" in said(page)
    assert list(frame(page, "metric").columns) == ["metric", pair[0].name, EXACT_RUN]
    page = shown("compare", tmp_path, monkeypatch, runs="gone,lost")
    assert "Choose two or more runs" in said(page)


def test_settings_that_matter_are_told_of_enough_runs(pair, tmp_path, monkeypatch) -> None:
    names = []
    for number in range(6):
        place = Path(shutil.copytree(pair[0].folder, tmp_path / f"run{number}"))
        config = (place / "config.yaml").read_text()
        (place / "config.yaml").write_text(
            config.replace("inner_width: 2", f"inner_width: {2 + number % 2}").replace(
                "final_width: 2", f"final_width: {2 + number // 3}"
            )
        )
        metrics = json.loads((place / "metrics.json").read_text())
        metrics["splits"]["test"]["mae"] = float(number % 2)
        metrics["formula_size"] = 10
        (place / "metrics.json").write_text(json.dumps(metrics))
        names.append(place.name)
    runs = [opened(tmp_path / name) for name in names]
    table = effects_table(runs, names).set_index("setting")
    assert table.loc["distillation.inner_width", "share"] == pytest.approx(1.0)
    assert table.loc["distillation.final_width", "share"] < 0.2
    assert table.loc["distillation.inner_width", "best"] == "2"
    page = shown("compare", tmp_path, monkeypatch, runs=",".join(names))
    assert frame(page, "share")["setting"].tolist()[0] == "distillation.inner_width"


def test_only_what_differs_is_listed() -> None:
    configs = [{"a": [1], "b": None, "c": 1.0}, {"a": [1], "b": None, "c": 2.0}]
    assert setting_differences(configs, ["x", "y"])["setting"].tolist() == ["c"]
    assert setting_differences(configs[:1] * 2, ["x", "y"]).empty


def test_names_that_are_markup_stay_text(runs_folder, pair, tmp_path, monkeypatch) -> None:
    forge(pair[0].folder, tmp_path)
    page = shown("compare", tmp_path, monkeypatch, runs=encode_names([NAME, EXACT_RUN]))
    texts = [*(one.value for one in page.markdown), *(one.value for one in page.warning)]
    assert not any("<img" in text.replace("\\<", "") for text in texts)
    assert NAME in frame(page, "metric").columns


def test_two_runs_are_compared_exported_and_opened(browser, pair) -> None:
    page, names = browser.page, [run.name for run in pair]
    browser.open(f"compare?runs={names[0]},{names[1]}", "Settings that differ")
    text = browser.text()
    assert all(name in text for name in names)
    name, table = browser.download(lambda: page.get_by_role("button", name="Terms as CSV").click())
    assert name == "compare-terms.csv"
    found = pd.read_csv(StringIO(table))
    assert found["runs"].tolist() == sorted(found["runs"], reverse=True)
    weights = found[names].to_numpy()
    assert (np.isfinite(weights).sum(axis=1) == found["runs"]).all()
    name, table = browser.download(lambda: page.get_by_role("button", name="Settings as CSV").click())
    assert pd.read_csv(StringIO(table))["setting"].tolist() == ["distillation.seed"]
    basket = page.get_by_role("combobox", name="Runs in the basket")
    option = page.get_by_role("option", name=EXACT_RUN)
    told = page.get_by_text("Other predicates than").first
    browser.insist(lambda: (basket.click(), option.click(timeout=5_000)), told)
    page.wait_for_url(f"**{EXACT_RUN}*")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Laboratory").last.click()
    browser.settled("The weights are refitted at once")
    assert f"run={EXACT_RUN}" in page.url
