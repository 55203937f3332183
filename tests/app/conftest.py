"""A workbench of its own for the tests, and a browser to look at it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from distill.jobs import do_job
from distill.runs import Run
from tests.support.browser import CHROMIUM, FLAGS, LISTED, Browser, served
from tests.support.small_jobs import small_config

DEMO = Path(__file__).parents[2] / "app" / "demo"


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory) -> Path:
    """Two small runs on Blocks: they differ in their seed, and their formulas are not exact."""
    folder = tmp_path_factory.mktemp("workbench")
    for seed in (0, 1):
        do_job(small_config(folder / "source", seed=seed), folder / "runs", cache=folder / "cache")
    return folder / "runs"


@pytest.fixture(scope="session")
def demo() -> Run:
    """The run that comes along."""
    return Run.load(next(DEMO.iterdir()))


@pytest.fixture
def blocks(runs_folder) -> Run:
    """One of the small runs."""
    return Run.load(sorted(runs_folder.glob("blocks-*"))[0])


@pytest.fixture(scope="session")
def workbench(runs_folder, tmp_path_factory) -> Iterator[str]:
    """The address of a workbench that shows these runs and the one that comes along."""
    pytest.importorskip("streamlit")
    log = tmp_path_factory.mktemp("log") / "server.txt"
    with served(runs_folder, log, "--host-name", LISTED) as address:
        yield address


@pytest.fixture(autouse=True)
def _main_stays() -> Iterator[None]:
    """Streamlit's tests put pages in the place of the main module, which processes begin with."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (on Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser(chromium, workbench) -> Iterator[Browser]:
    """A fresh page; no test may cause an error in the console or a request to the outside."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000}, accept_downloads=True)
    found = Browser(context.new_page(), workbench)
    yield found
    context.close()
    assert found.errors == []
    assert found.outside == []
