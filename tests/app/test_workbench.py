"""The workbench as a whole: pages, addresses, what must never happen."""

import pytest

PAGES = ("runs", "value", "formulas", "state", "accuracy")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens_without_errors(browser, path) -> None:
    browser.open(path)
    assert "Traceback" not in browser.text()
