"""The tutorial, step by step: what docs/tutorial.md tells is done here, in a browser and a shell."""

import re
from pathlib import Path

import pytest

pytest.importorskip("streamlit")

from typer.testing import CliRunner

from app.pages.start.form import shipped
from app.session.run_index import DEMO
from distill.cli.main import app
from distill.jobs import detached_jobs
from distill.runs import Run
from tests.support.browser import Browser, served
from tests.support.commands import until

pytestmark = pytest.mark.slow

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
DEMO_RUN = next(DEMO.iterdir()).name


@pytest.fixture
def newcomer(chromium, tmp_path):
    """A browser at a workbench without any runs, and where these will be."""
    store = tmp_path / "runs"
    with served(store, tmp_path / "log.txt") as address:
        context = chromium.new_context(viewport={"width": 1400, "height": 1000}, accept_downloads=True)
        browser = Browser(context.new_page(), address)
        yield browser, store
        context.close()
        for one in detached_jobs(store):
            one.cancel()
            until(lambda one=one: one.state().is_over)
    assert browser.errors == []
    assert browser.outside == []


def click(browser: Browser, role: str, name: str, wanted: str | None = None) -> None:
    browser.settled()
    browser.page.get_by_role(role, name=name, exact=True).first.click()
    browser.settled(wanted)


def goto(browser: Browser, page: str, wanted: str) -> None:
    """Go to a page by its name at the side."""
    browser.page.locator('[data-testid="stSidebarNav"]').get_by_role("link", name=page).click()
    browser.settled(wanted)


def choose(browser: Browser, label: str, option: str) -> None:
    browser.settled()
    box = browser.page.get_by_role("combobox", name=label).first
    box.click()
    browser.page.get_by_role("option", name=option, exact=True).click()
    browser.settled()


@pytest.mark.skipif("gripper" not in shipped(), reason="the networks that come along are not here")
def test_the_tutorial_from_the_first_page_to_a_verified_function(newcomer) -> None:
    browser, store = newcomer
    # 1. Open the workbench: a run is there.
    browser.open("", "demonstration run on Gripper")
    assert f"{DEMO_RUN} (demo" in browser.text()
    # 2. Start a job on the network that comes along.
    goto(browser, "Start work", "Choose a network, a problem and settings")
    choose(browser, "Network", "gripper")
    browser.settled("problem: gripper")  # the problem follows the network
    seed = browser.page.get_by_role("spinbutton", name="seed").first
    seed.fill("1")
    seed.press("Enter")
    browser.settled("seed: 1")
    click(browser, "button", "Start", "gripper on gripper, seed 1")
    until(lambda: detached_jobs(store)[0].state().is_over)
    browser.settled("seed 1: done")
    # 3. Read what came out.
    click(browser, "link", "Open the run", "Exact on all training states.")
    name = re.search(r"run=([^&]+)", browser.page.url)[1]
    assert name != DEMO_RUN
    choose(browser, "Notation", "English")
    browser.settled("the number of")
    choose(browser, "Notation", "typed")
    # 4. Look at a state.
    goto(browser, "States", "Successors")
    assert f"run={name}" in browser.page.url
    # 5. Remove a term in the laboratory, and put it back.
    goto(browser, "Laboratory", "A full exact solve")
    click(browser, "button", "Remove", "removed")
    click(browser, "button", "Restore")
    browser.page.get_by_text("removed", exact=True).wait_for(state="detached")
    # 6. Export the function and the report.
    goto(browser, "Value function", "Exact on all training states.")
    click(browser, "button", "Export the value function")
    file, text = browser.download(browser.page.get_by_role("button", name="value.py", exact=True).click)
    assert file == "value.py"
    assert text == (store / name / "value.py").read_text()
    browser.page.keyboard.press("Escape")
    page, kept = browser.download(browser.page.get_by_role("button", name="Report (HTML)").click)
    assert page == "report.html"
    assert kept == (store / name / "report.html").read_text()
    # 7. Verify it in a shell.
    for command in (["verify-run", name], ["verify", name, "--max-objects", "6"]):
        done = CliRunner().invoke(app, [*command, "--store", str(store)])
        assert done.exit_code == 0, done.output
    assert Run.load(store / name).metrics["fit"]["exact"] is True


def test_the_tutorial_tells_the_same_commands_and_pages() -> None:
    """What is followed above is what stands there."""
    text = TUTORIAL.read_text()
    for told in (
        "make app",
        "Start work",
        "Open the run",
        "Remove",
        "Restore",
        "Export the value function",
        "Report (HTML)",
        "distill verify-run",
        "distill verify ",
        "--max-objects 6",
    ):
        assert told in text, told
    for picture in re.findall(r"\(screenshots/([\w-]+\.png)\)", text):
        assert (TUTORIAL.parent / "screenshots" / picture).exists(), picture
