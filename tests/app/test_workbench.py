"""The workbench as a whole: pages, addresses, one selection on all pages."""

import pytest

from distill.common import CODE_VERSIONS
from tests.support.page_content import said, shown

PAGES = {
    "runs": "Runs",
    "value": "Value function",
    "formulas": "Formulas",
    "state": "States",
    "accuracy": "Accuracy",
    "work": "Start work",
}


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens_by_its_address(browser, path) -> None:
    browser.open(path)
    heading = browser.page.get_by_role("heading", level=1).first
    assert heading.inner_text() == PAGES[path]
    assert "Traceback" not in browser.text()


def test_what_is_selected_goes_along_from_page_to_page(browser, runs_folder) -> None:
    chosen = sorted(place.name for place in runs_folder.iterdir() if not place.name.startswith("."))[0]
    browser.open(f"accuracy?run={chosen}&notation=c2", "Accuracy")
    browser.page.get_by_role("link", name="Value function").first.click()
    browser.settled("The value function V, a weighted sum")
    browser.page.wait_for_url(f"**/value?*run={chosen}*")
    assert "notation=c2" in browser.page.url


def test_a_run_of_another_code_version_has_a_warning(runs_folder, monkeypatch) -> None:
    assert "another version" not in said(shown("value", runs_folder, monkeypatch))
    monkeypatch.setitem(CODE_VERSIONS, "regress", CODE_VERSIONS["regress"] + 1)
    assert "another version of the code (stage regress)" in said(shown("value", runs_folder, monkeypatch))
