"""The page Accuracy: numbers against a direct computation, links, exports, and what is damaged."""

import shutil
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from app.pages.accuracy import error_tables
from app.session.run_index import DEMO
from distill.evaluation import Inspection
from distill.runs import Run
from tests.support.commands import PATIENCE
from tests.support.page_content import small_table

apptest = pytest.importorskip("streamlit.testing.v1")
EXACT_RUN = next(DEMO.iterdir()).name


def table_of(**columns: object) -> pd.DataFrame:
    """Predictions of one split and instance."""
    rows = pd.DataFrame({"split": "test", "instance": 0, **columns})
    return rows.assign(state=np.arange(len(rows)))


@pytest.fixture
def inexact(runs_folder) -> Run:
    """A small run whose value function is wrong on some states."""
    return next(run for run in map(Run.load, sorted(runs_folder.glob("blocks-*"))) if _largest(run) > 0)


def _largest(run: Run) -> float:
    return max(score["max_error"] for score in run.metrics["splits"].values())


def shown(store: Path, monkeypatch, **address: str):
    """The page alone, as an address shows it."""

    def script() -> None:
        from app.pages.accuracy.page import show

        show()

    monkeypatch.setenv("DISTILL_STORE", str(store))
    at = apptest.AppTest.from_function(script, default_timeout=PATIENCE)
    for key, value in address.items():
        at.query_params[key] = value
    return at.run()


def said(at) -> str:
    """All sentences on a page."""
    kinds = ("error", "warning", "info", "success", "caption")
    return "\n".join(element.value for kind in kinds for element in getattr(at, kind))


def frame(at, *columns: str) -> pd.DataFrame:
    """The table on a page that has some columns."""
    return next(one.value for one in at.dataframe if set(columns) <= set(one.value.columns))


def charted(at, column: str) -> pd.DataFrame:
    """The rows behind a chart that has a column."""
    for one in at.get("vega_lite_chart"):
        for data in one.proto.datasets:
            rows = pa.ipc.open_stream(data.data.data).read_pandas()
            if column in rows:
                return rows
    raise AssertionError(f"no chart shows {column}")


# Aggregation


def test_boxes_are_those_of_a_direct_computation() -> None:
    rng = np.random.default_rng(0)
    table = table_of(v_star=rng.integers(0, 4, 400), value=rng.normal(2, 3, 400))
    states = error_tables.labelled_states(table, ["test"], "value")
    outside = 0
    for row in error_tables.boxes(states).itertuples():
        v = np.sort(table["value"][table["v_star"] == row.v_star])
        q1, q3 = np.quantile(v, [0.25, 0.75])
        inside = v[(v >= q1 - 1.5 * (q3 - q1)) & (v <= q3 + 1.5 * (q3 - q1))]
        assert (row.least, row.most, row.states) == (v[0], v[-1], len(v))
        assert np.allclose([row.q1, row.median, row.q3], [q1, np.median(v), q3])
        assert (row.low, row.high, row.outliers) == (inside[0], inside[-1], len(v) - len(inside))
        outside += row.outliers
    assert outside
    assert error_tables.outliers(states)["states"].sum() == outside


def test_few_outliers_are_drawn_and_the_furthest_are_among_them() -> None:
    far = np.linspace(100, 200, 300)
    table = table_of(v_star=1, value=np.concatenate([np.ones(2000), far]))
    found = error_tables.outliers(error_tables.labelled_states(table, ["test"], "value"))
    assert len(found) <= 15
    assert {found["v"].min(), found["v"].max()} == {100, 200}
    assert np.diff(found["v"]).max() < 20  # spread, not all from one end


def test_states_count_as_right_low_and_high() -> None:
    table = table_of(v_star=[3, 3, 3, 3, 3, 5], value=[3, 3.4, 2.5, 3.5, 9, 5])
    found = error_tables.by_v_star(error_tables.labelled_states(table, ["test"], "value"))
    assert found[["v_star", "states", "right", "too_low", "too_high"]].to_numpy().tolist() == [
        [3, 5, 2, 1, 2],
        [5, 1, 1, 0, 0],
    ]
    assert found["mean_error"][0] == pytest.approx((0 + 0.4 + 0.5 + 0.5 + 6) / 5)


def test_dead_ends_and_what_has_no_value_are_left_out() -> None:
    table = table_of(v_star=[-1, 2, 2], value=[0, np.nan, 2])
    assert error_tables.labelled_states(table, ["test"], "value")["state"].tolist() == [2]
    assert error_tables.labelled_states(table, ["train"], "value").empty


def test_nothing_is_aggregated_to_nothing() -> None:
    states = error_tables.labelled_states(table_of(v_star=[-1], value=[0.0]), ["test"], "value")
    for aggregate in (
        error_tables.boxes,
        error_tables.outliers,
        error_tables.by_v_star,
        error_tables.confusion,
    ):
        assert aggregate(states).empty


def test_confusion_counts_each_state_once_whatever_it_says() -> None:
    table = table_of(v_star=[0, 4, 4, 4], value=[-1e12, 3.6, 4.4, 1e300])
    found = error_tables.confusion(error_tables.labelled_states(table, ["test"], "value"))
    assert found["states"].sum() == 4
    assert found["rounded"].between(-4, 8).all()
    assert found.groupby("v_star")["share"].sum().tolist() == [1, 1]


def test_forged_metrics_are_no_numbers() -> None:
    found = error_tables.scores({"<b>": {"mae": "<img>", "solved": 3, "instances": 0}}, {})
    assert found["mae"].isna().all()
    assert found["solved"].isna().all()


# The page


def test_metrics_and_tables_agree_with_the_predictions(inexact, runs_folder, monkeypatch) -> None:
    at = shown(runs_folder, monkeypatch, run=inexact.name, split="test", see="Errors by V*")
    assert not at.exception
    assert "Not exact" in said(at)
    table = inexact.predictions()
    error = (table["value"] - table["v_star"]).abs()
    metrics = small_table(at, "network's mean error").set_index("split")
    network = (table["network"] - table["v_star"]).abs()
    for split, mine in table.groupby("split", observed=True).groups.items():
        assert metrics["mean error"][split] == f"{error[mine].mean():.4f}"
        assert metrics["network's mean error"][split] == f"{network[mine].mean():.4f}"
    test = table["split"] == "test"
    counted = frame(at, "too_low")
    assert counted["states"].sum() == test.sum()
    assert (counted["too_low"] + counted["too_high"]).sum() == (error[test] >= 0.5).sum()
    at = shown(runs_folder, monkeypatch, run=inexact.name, split="test", see="Worst states")
    listed = frame(at, "instance", "error")
    assert set(listed["split"]) == {"test"}
    assert listed["error"].tolist() == error[test].nlargest(len(listed)).tolist()


def test_errors_by_objects_come_from_the_instances(inexact, runs_folder, monkeypatch) -> None:
    at = shown(runs_folder, monkeypatch, run=inexact.name, split="train", see="Errors by objects")
    table, data = inexact.predictions(), inexact.states("train")
    mine = table[table["split"] == "train"]
    error = (mine["value"] - mine["v_star"]).abs()
    direct = error.groupby(data.n_objects[mine["instance"]]).max().to_dict()
    rows = charted(at, "largest_error").to_dict("records")
    assert {row["objects"]: row["largest_error"] for row in rows} == direct


def test_an_exact_run_says_so_and_shows_its_network(runs_folder, monkeypatch) -> None:
    at = shown(runs_folder, monkeypatch, run=EXACT_RUN, see="Worst states")
    assert not at.exception
    assert "Exact: on all 68,706 states" in said(at)
    assert "There are none: the value function is exact" in said(at)
    at = shown(runs_folder, monkeypatch, run=EXACT_RUN, of="network", see="Worst states")
    table = Run.load(DEMO / EXACT_RUN).predictions()
    wrong = ((table["network"] - table["v_star"]).abs() > 1e-6).sum()
    assert f"{wrong:,} states that are not exact" in said(at)


@pytest.mark.parametrize(("section", "charts"), [("Predictions", 3), ("Errors by V*", 1), ("nonsense", 3)])
def test_only_a_little_is_sent_to_the_browser(runs_folder, monkeypatch, section, charts) -> None:
    at = shown(runs_folder, monkeypatch, run=EXACT_RUN, of="network", see=section)
    sizes = [one.proto.ByteSize() for one in at.get("vega_lite_chart")]
    assert len(sizes) == charts
    assert sum(sizes) < 100_000


def test_all_splits_are_no_selection_for_other_pages(inexact, runs_folder, monkeypatch) -> None:
    at = shown(runs_folder, monkeypatch, run=inexact.name, split="test", see="Errors by V*")
    at.selectbox(key="widget/split").select("all").run()
    assert "split" not in at.query_params
    assert frame(at, "too_low")["states"].sum() == len(inexact.predictions())


def test_stale_links_are_told(inexact, runs_folder, monkeypatch) -> None:
    gone = {"split": "holdout", "of": "oracle", "v": "99"}
    at = shown(runs_folder, monkeypatch, run=inexact.name, see="Worst states", **gone)
    assert not at.exception
    assert all(one in said(at) for one in gone.values())
    assert len(frame(at, "instance", "error"))


def test_a_run_without_a_network_has_one_choice(runs_folder, tmp_path, monkeypatch) -> None:
    run = _copy(runs_folder, tmp_path)
    run.predictions().drop(columns="network").to_parquet(run.folder / "predictions.parquet", index=False)
    at = shown(tmp_path, monkeypatch, run=run.name)
    assert not at.exception
    assert at.selectbox(key="widget/of").options == ["the value function"]
    assert "network's mean error" not in small_table(at, "mean error")
    at = shown(tmp_path, monkeypatch, run=run.name, see="Greedy choices")
    assert not at.exception
    assert not at.error
    [told] = [text.value for text in at.text if text.value.startswith("Of ")]
    assert "network" not in told


def test_what_is_damaged_takes_only_its_part_along(runs_folder, tmp_path, monkeypatch) -> None:
    run = _copy(runs_folder, tmp_path)
    (run.folder / "states" / "train.npz").write_bytes(b"no archive")
    for section in ("Errors by objects", "Greedy choices"):
        at = shown(tmp_path, monkeypatch, run=run.name, see=section)
        assert not at.exception
        assert len(at.error) == 1
        assert "train.npz" in said(at).replace("\\", "")
    at = shown(tmp_path, monkeypatch, run=run.name, see="Errors by V*")
    assert not at.error
    assert len(frame(at, "too_low"))


def test_choices_that_differ_are_counted_and_listed(inexact, runs_folder, monkeypatch) -> None:
    """Held against the page of each state, which looks at one state at a time."""
    at = shown(runs_folder, monkeypatch, run=inexact.name, split="train", see="Greedy choices")
    assert not at.exception
    rows = charted(at, "differ")
    data, table = inexact.states("train"), inexact.predictions().query("split == 'train'")
    network = table.sort_values("state")["network"].to_numpy()
    listed = frame(at, "by_value", "by_v_star")
    assert len(listed)
    assert rows.groupby("kind")["differ"].sum().max() >= len(listed) / 3
    for row in listed.head(5).to_dict("records"):
        state = row["state"]
        looked = Inspection(data, int(data.state_instance[state]), inexact.value_function, network)
        found = [one for one in looked.successors(looked.stored(state)) if not one.stays]
        v_star = {one.action: one.state.v_star for one in found}
        chosen = min(found, key=lambda one: (round(one.value, 6), one.action)).action
        assert row["by_value"] == chosen
        assert row["value function not optimal"] == (v_star[chosen] > min(v_star.values()))
        assert v_star[row["by_v_star"]] == min(v_star.values())


def _copy(runs_folder: Path, place: Path) -> Run:
    run = next(iter(sorted(runs_folder.glob("blocks-*"))))
    return Run.load(Path(shutil.copytree(run, place / run.name)))


# In the browser


def test_a_link_shows_the_network_and_its_numbers_can_be_taken_away(browser, inexact) -> None:
    browser.open(f"accuracy?run={inexact.name}&split=test&of=network", "Boxes as CSV")
    assert "V of the network" in browser.text()
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="Boxes as CSV").click())
    assert name == f"{inexact.name}-network-test-boxes.csv"
    boxes = pd.read_csv(StringIO(text))
    table = inexact.predictions()
    table = table[table["split"] == "test"]
    assert boxes["median"].tolist() == pytest.approx(table.groupby("v_star")["network"].median().tolist())


def test_a_choice_is_in_the_address_and_the_worst_state_one_click_away(browser, inexact) -> None:
    from playwright.sync_api import expect

    browser.open(f"accuracy?run={inexact.name}", "Boxes as CSV")
    browser.page.get_by_role("combobox", name="Split").click()
    browser.page.get_by_role("option", name="test").click()
    expect(browser.page.get_by_text("train: ")).to_have_count(0)
    browser.page.get_by_role("radio", name="Worst states").click()
    browser.settled("Open the first state")
    assert "split=test" in browser.page.url
    assert "see=Worst+states" in browser.page.url
    # Each row and the heading are 35 pixels high; the box is at the left.
    browser.page.get_by_test_id("stDataFrame").first.click(position={"x": 16, "y": 35 + 18})
    browser.page.wait_for_url("**/state?*")
    table = inexact.predictions()
    table = table[table["split"] == "test"]
    first = table["state"][(table["value"] - table["v_star"]).abs().idxmax()]
    assert f"run={inexact.name}" in browser.page.url
    assert "split=test" in browser.page.url
    assert f"state={first}" in browser.page.url
