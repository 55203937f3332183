"""The section of the page Value function that shows at which layers the network knows the terms."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("streamlit")

from app.pages.value.contributions import terms_of
from app.pages.value.layers import jobs_of, known_table, probes_of, request, scores_table
from app.session.run_session import RunSession
from distill.jobs import detached_jobs
from distill.networks import ProbeRow
from distill.networks.probing import ProbeScore
from tests.support.commands import answer, until
from tests.support.page_content import said, shown, small_table

PART = "Terms in the network"


def opened(folder: Path) -> RunSession:
    return RunSession(folder, (folder / "inputs.json").stat().st_mtime_ns)


@pytest.fixture
def run(runs_folder, tmp_path) -> RunSession:
    """A small run in a store of its own."""
    folder = sorted(runs_folder.glob("blocks-*"))[0]
    return opened(Path(shutil.copytree(folder, tmp_path / "runs" / folder.name)))


def page_of(run: RunSession, monkeypatch):
    return shown("value", run.folder.parent, monkeypatch, run=run.name, part=PART)


@pytest.mark.slow
def test_a_job_probes_the_terms_and_its_result_is_shown(run, monkeypatch) -> None:
    page = page_of(run, monkeypatch)
    assert "were not tested yet" in said(page)
    page.button(key="layers/start").click().run()
    assert not page.exception
    [job] = detached_jobs(run.folder.parent)
    until(lambda: job.state().is_over)
    assert job.state().state == "done", job.log()
    page = page_of(run, monkeypatch)
    table = small_table(page, "term", "network", "untrained network")
    terms = [str(term.number) for term in terms_of(run) if term.place]
    assert table["term"].tolist() == terms
    # The page shows what the command prints.
    told = answer(*request(run)[:-1])
    assert [row.to_json() for row in probes_of(run)] == told["probes"]
    assert table["network"].tolist() == [row["trained"] or "nowhere" for row in told["known"]]


def test_a_result_of_the_run_before_it_was_made_again_is_not_shown(run, monkeypatch) -> None:
    monkeypatch.setenv("DISTILL_STORE", str(run.folder.parent))
    page_of(run, monkeypatch).button(key="layers/start").click().run()
    [job] = jobs_of(run)
    later = RunSession(run.folder, int(job.request_time * 1e9) + 1)
    assert jobs_of(later) == []
    job.cancel()
    until(lambda: job.state().is_over)
    assert probes_of(later) is None


def test_a_run_without_a_network_says_so(run, monkeypatch) -> None:
    (run.folder / "network.safetensors").unlink()
    page = page_of(run, monkeypatch)
    assert "This run has no network" in said(page)
    assert not page.button


@pytest.mark.slow
def test_a_failed_job_is_told_and_can_be_discarded(run, monkeypatch) -> None:
    (run.folder / "network.safetensors").write_bytes(b"no network")
    page = page_of(run, monkeypatch)
    page.button(key="layers/start").click().run()
    [job] = detached_jobs(run.folder.parent)
    until(lambda: job.state().is_over)
    page = page_of(run, monkeypatch)
    assert f"{job.name}: failed" in said(page)
    page.button(key=f"job/forget/{job.key}").click().run()
    assert detached_jobs(run.folder.parent) == []


def test_tables_have_a_row_for_each_term_and_each_probe() -> None:
    good, bad = ProbeScore(0.0, 0.1, 0.96), ProbeScore(0.1, 0.2, None)
    rows = [ProbeRow("#clear", "layer 1", 0.5, bad, bad), ProbeRow("#clear", "layer 2", 0.5, good, bad)]
    assert known_table(rows).to_dict("records") == [
        {"term": "#clear", "network": "layer 2", "untrained": "nowhere", "constant": 0.5}
    ]
    table = scores_table(rows)
    assert table["place"].tolist() == ["layer 1", "layer 2"]
    assert pd.isna(table["trained_share"][0])


def test_the_layers_of_terms_are_found_and_drawn(browser, demo) -> None:
    browser.open(f"value?run={demo.name}&part={PART}", "were not tested yet")
    browser.page.get_by_role("button", name="Start a job").click()
    browser.settled("Where a term is known first")
    browser.settled("1: perfect prediction on the test states")
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="Probes as CSV").click())
    assert name == "probes.csv"
    assert text.splitlines()[0].startswith("feature,place,constant_mae,trained_train_mae")
    assert "pool vector" in text
    # A link shows the result again.
    browser.open(f"value?run={demo.name}&part={PART}", "Where a term is known first")
