"""The workbench as a whole: pages, addresses, one selection on all pages."""

import pytest

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
    browser.settled("What the planner became in logic")
    browser.page.wait_for_url(f"**/value?*run={chosen}*")
    assert "notation=c2" in browser.page.url
