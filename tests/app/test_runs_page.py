"""The page Runs: what is listed, filters in the address, jobs and sweeps, the first visit."""

import json
import os
import shutil
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from app.components.sweeps import sweeps_in
from app.pages.runs.page import filter_runs, jobs_table, runs_table
from app.pages.runs.sweeps import overview
from app.session.run_index import DEMO
from distill.jobs import Work, write_summary
from distill.jobs.sweep import PlannedJob
from distill.runs import Run, RunSummary, Status, Store, run_index, status_file
from tests.support.bare_run import bare_run
from tests.support.commands import PATIENCE
from tests.support.page_content import preformatted


def runs_in(folder: Path) -> list[RunSummary]:
    return Store(folder).summaries()[0]


def listed_run(name: str = "a-b-1", **values) -> RunSummary:
    usual = {
        "made": 1e9,
        "problem": "blocks",
        "mode": "readable",
        "pool": "ridt",
        "control": "none",
        "exact": True,
        "mae": {"train": 0.0, "test": 0.25},
        "features": 3,
        "size": 21,
        "fidelity": 0.5,
        "metrics": {},
    }
    return RunSummary(folder=Path("runs", name), **{**usual, **values})


def forged(folder: Path, name: str, **metrics) -> Path:
    """A run of which only what is listed is there."""
    config = "domain: some/blocks.pddl\ndistillation: {mode: readable}\n"
    return bare_run(folder / name, config, **metrics)


def shown(store: Path, monkeypatch, **address: str) -> AppTest:
    """The page, with a folder of runs and an address."""
    monkeypatch.setenv("DISTILL_STORE", str(store))
    page = AppTest.from_string("from app.pages import runs\nruns.show()", default_timeout=PATIENCE)
    for key, value in address.items():
        page.query_params[key] = value
    return page.run()


def names(page: AppTest) -> list[str]:
    return page.dataframe[0].value["run"].str.removesuffix(" (demo)").tolist()


# What is listed


def test_a_run_is_listed_with_its_metrics(runs_folder) -> None:
    found = {run.name: run for run in runs_in(runs_folder)}
    for place in runs_folder.glob("blocks-*"):
        run, row = Run.load(place), found.pop(place.name)
        assert row.mae == {name: split["mae"] for name, split in run.metrics["splits"].items()}
        assert (row.features, row.size) == (run.metrics["features"], run.metrics["formula_size"])
        assert (row.problem, row.pool, row.control, row.mode) == ("blocks", "ridt", "none", "readable")
        assert row.fidelity == run.metrics["fidelity"]["greedy_agreement"]
        assert row.exact == run.metrics["fit"]["exact"]
    assert not found


def test_newest_come_first_and_what_is_damaged_is_named(tmp_path) -> None:
    for number, name in enumerate(("old", "new")):
        place = forged(tmp_path, name)
        os.utime(place / "metrics.json", (1e9 + number, 1e9 + number))
    forged(tmp_path, "cut")
    (tmp_path / "cut" / "metrics.json").write_text('{"splits"')
    forged(tmp_path, "foreign", splits=3)
    (tmp_path / "empty").mkdir()
    assert [run.name for run in runs_in(tmp_path)] == ["new", "old"]
    assert Store(tmp_path).summaries()[1].keys() == {"cut", "foreign"}
    assert "metrics.json, line 1: it is not valid JSON" in Store(tmp_path).summaries()[1]["cut"]
    assert runs_in(tmp_path / "nowhere") == []


def test_a_run_on_pddl_has_the_name_of_its_folder(tmp_path, monkeypatch) -> None:
    place = forged(tmp_path, "ferry-1")
    (place / "config.yaml").write_text("domain: some/ferry/domain.pddl\n")
    forged(tmp_path, "blocks-1")
    page = shown(tmp_path, monkeypatch, problem="ferry")
    assert names(page) == ["ferry-1"]
    assert page.dataframe[0].value["problem"].tolist() == ["ferry"]


def test_a_run_is_read_again_only_when_it_changed(tmp_path) -> None:
    places = [forged(tmp_path, f"run-{number}") for number in range(20)]
    runs_in(tmp_path)
    before = run_index._read.cache_info().misses
    runs_in(tmp_path)
    assert run_index._read.cache_info().misses == before
    changed = json.loads((places[3] / "metrics.json").read_text()) | {"features": 77}
    (places[3] / "metrics.json").write_text(json.dumps(changed))
    os.utime(places[3] / "metrics.json", (2e9, 2e9))
    assert {run.name: run.features for run in runs_in(tmp_path)}["run-3"] == 77
    assert run_index._read.cache_info().misses == before + 1


def test_filters_keep_what_fits_all_of_them() -> None:
    runs = [
        listed_run("blocks-net-1"),
        listed_run("blocks-net-2", exact=False),
        listed_run("gripper-net-1", problem="gripper", control="permuted"),
    ]

    def kept(find: str = "", problem: str = "", exact: bool = False) -> list[str]:
        return [run.name for run in filter_runs(runs, find, problem, exact)]

    assert len(kept()) == 3
    assert kept("NET blocks") == ["blocks-net-1", "blocks-net-2"]
    assert kept("permuted") == ["gripper-net-1"]
    assert kept(problem="blocks", exact=True) == ["blocks-net-1"]
    assert kept("blocks", problem="gripper") == []


def test_the_table_tells_the_demo_run_and_leaves_out_what_is_not_known() -> None:
    [demo] = runs_in(DEMO)
    table = runs_table([listed_run(), demo])
    assert table["demo"].tolist() == [False, True]
    assert table["made"].isna().tolist() == [False, True]
    assert table["mae_validation"].isna().tolist() == [True, False]
    assert table["mae_test"].tolist() == [0.25, 0.0]


# The page


def test_the_first_visit_shows_the_demo_run_and_what_to_do(tmp_path, monkeypatch) -> None:
    page = shown(tmp_path / "none yet", monkeypatch)
    assert not page.exception
    assert names(page) == [run.name for run in runs_in(DEMO)]
    assert page.dataframe[0].value["run"].tolist()[0].endswith("(demo)")
    assert "distilled from learned planners" in page.info[0].value
    # The folder's name has a blank in it.
    assert f"--out '{tmp_path / 'none yet'}'" in page.code[0].value
    # The demo run is selected, so its function is there.
    assert "V = -5*#<at & at_G>room" in preformatted(page)[0]


def test_the_address_filters(runs_folder, monkeypatch) -> None:
    own = {place.name for place in runs_folder.glob("blocks-*")}
    assert {*own} < {*names(shown(runs_folder, monkeypatch))}
    page = shown(runs_folder, monkeypatch, find="ridt blocks")
    assert {*names(page)} == own
    assert not page.info
    assert names(shown(runs_folder, monkeypatch, problem="gripper")) == [run.name for run in runs_in(DEMO)]
    exact = names(shown(runs_folder, monkeypatch, exact="yes"))
    assert exact == [run.name for run in [*runs_in(runs_folder), *runs_in(DEMO)] if run.exact]
    assert len(exact) < len(own) + 1


def test_a_filter_goes_into_the_address_and_all_runs_come_back(runs_folder, monkeypatch) -> None:
    page = shown(runs_folder, monkeypatch)
    page.text_input(key="runs/find").input("no such run").run()
    assert page.query_params["find"] == "no such run"
    assert not page.dataframe
    page.checkbox(key="widget/exact").check().run()
    assert page.query_params["exact"] == "yes"
    page.button(key="runs/all").click().run()
    assert len(names(page)) == 3
    assert not {"find", "exact"} & {*page.query_params}


def test_what_is_looked_for_here_is_not_looked_for_on_other_pages(runs_folder, monkeypatch) -> None:
    page = shown(runs_folder, monkeypatch, find="blocks")
    page.query_params.clear()
    page.run()
    assert page.query_params["find"] == "blocks"
    assert "selected/find" not in page.session_state


def test_a_problem_that_is_not_there_is_told(runs_folder, monkeypatch) -> None:
    page = shown(runs_folder, monkeypatch, problem="chess", exact="perhaps")
    assert "chess" in page.info[0].value
    assert len(names(page)) == 3


def test_damaged_runs_are_told_beside_the_others(runs_folder, tmp_path, monkeypatch) -> None:
    whole = next(iter(runs_folder.glob("blocks-*")))
    shutil.copytree(whole, tmp_path / whole.name)
    (tmp_path / whole.name / "model.json").write_text("{}")
    forged(tmp_path, "cut_off")
    (tmp_path / "cut_off" / "config.yaml").write_text("[")
    page = shown(tmp_path, monkeypatch, run=whole.name)
    assert not page.exception
    assert whole.name in names(page)
    assert "cut\\_off" in page.warning[0].value
    assert "holds no value function" in page.error[0].value


# Jobs


def test_jobs_that_failed_are_silent_or_go_on_are_told(tmp_path, monkeypatch) -> None:
    now = 2_000_000.0
    jobs = {
        "a": Status("failed", "distil", error="The network is too small.", seen=now),
        "b": Status("running", "replay", 3, 12, seen=now - 5),
        "c": Status("running", "distil", seen=now - 7_200),
    }
    table = jobs_table(jobs, now)
    assert table["error"].tolist()[:2] == ["The network is too small.", ""]
    assert "2 hours" in table["error"][2]
    assert table["progress"][1] == 0.25
    for name, status in jobs.items():
        status.write(status_file(tmp_path, name))
    page = shown(tmp_path, monkeypatch)
    assert page.dataframe[-1].value["run"].tolist() == ["a", "b", "c"]


def test_a_status_that_makes_no_sense_takes_nothing_with_it(tmp_path, monkeypatch) -> None:
    summarised(tmp_path)
    file = status_file(tmp_path, "odd")
    file.parent.mkdir(parents=True)
    file.write_text('{"state": "running", "seen": "yesterday"}')
    page = shown(tmp_path, monkeypatch)
    assert not page.exception
    [status] = Store(tmp_path).jobs().values()
    assert status.state == "failed"
    assert "odd.json is damaged (seen: " in status.error
    assert "Sweeps" in [header.value for header in page.header]


# Sweeps


def summarised(store: Path) -> Path:
    """A sweep of twelve jobs: only the depth matters, and a last job failed."""
    works = []
    for number in range(12):
        settings = {"distillation.inner_depth": number % 2 + 3, "distillation.seed": number // 2}
        metrics = {
            "splits": {name: {"mae": float(number % 2), "max_error": 1.0} for name in ("train", "test")},
            "fidelity": {"mae": 0.1, "greedy_agreement": 0.9},
            "fit": {"exact": number % 2 == 0},
            "features": 4,
            "formula_size": 30,
        }
        works.append(Work(PlannedJob(None, settings), f"run-{number}", state="done", metrics=metrics))
    works.append(Work(PlannedJob(None, {}), "run-12", state="failed", error="It makes no sense."))
    return write_summary("depths", works, ["distillation.inner_depth", "distillation.seed"], store)


def test_a_sweep_tells_what_matters(tmp_path, monkeypatch) -> None:
    place = summarised(tmp_path)
    [done], wrong = sweeps_in(tmp_path)
    assert not wrong
    assert done.settings == ["distillation.inner_depth", "distillation.seed"]
    [row] = overview([done]).to_dict("records")
    assert (row["sweep"], row["jobs"], row["done"], row["failed"], row["exact"]) == (place.name, 13, 12, 1, 6)
    assert row["best_mae"] == 0
    assert row["matters"] == "inner_depth for error on test (100%, best: 3)"
    page = shown(tmp_path, monkeypatch)
    jobs = page.dataframe[-1].value
    assert jobs["run"].tolist() == [f"run-{number}" for number in range(13)]
    assert "It makes no sense." in jobs["error"].tolist()


@pytest.mark.parametrize("text", ["", "run,state\n1,2\n", "not a table"])
def test_a_damaged_sweep_is_told(tmp_path, monkeypatch, text) -> None:
    place = summarised(tmp_path)
    (place / "summary.csv").write_text(text)
    page = shown(tmp_path, monkeypatch)
    assert not page.exception
    assert "cannot be read" in page.warning[0].value
    assert names(page)


# In the browser


def test_search_select_and_open(browser, runs_folder) -> None:
    browser.open("", "3 of 3 runs")
    browser.page.get_by_label("Find").fill("blocks")
    browser.page.get_by_label("Find").press("Enter")
    browser.settled("2 of 3 runs")
    assert "find=blocks" in browser.page.url
    rows = [run.name for run in runs_in(runs_folder)]
    table = browser.page.get_by_test_id("stDataFrame").first
    # Each row and the heading are 35 pixels high; the box is at the left.
    table.click(position={"x": 16, "y": 35 * 2 + 18})
    browser.settled(f"Selected: {rows[1]}")
    assert f"run={rows[1]}" in browser.page.url
    main = browser.page.get_by_test_id("stMain")
    main.get_by_role("link", name="Value function").click()
    browser.page.wait_for_url("**/value?*")
    browser.settled(rows[1])
    assert f"run={rows[1]}" in browser.page.url


def test_a_link_reproduces_the_list_and_it_can_be_taken_away(browser, runs_folder) -> None:
    from playwright.sync_api import expect

    browser.open("?problem=blocks&find=ridt", "2 of 3 runs")
    expect(browser.page.get_by_label("Find")).to_have_value("ridt")
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="CSV", exact=True).click())
    assert name == "runs.csv"
    table = pd.read_csv(StringIO(text))
    assert table["run"].tolist() == [run.name for run in runs_in(runs_folder)]
    assert table["mae_test"].tolist() == pytest.approx([run.mae["test"] for run in runs_in(runs_folder)])
