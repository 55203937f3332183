"""Saved views, at the side of every page."""

import shutil
from urllib.parse import urlencode

import pytest

pytest.importorskip("streamlit")


from app.session.run_index import DEMO
from app.session.view_files import Views
from tests.support.browser import Browser

DEMO_RUN = next(DEMO.iterdir()).name


@pytest.fixture
def views(runs_folder):
    """The views of the workbench that all tests share; nothing of them stays."""
    yield Views(runs_folder)
    shutil.rmtree(runs_folder / ".views", ignore_errors=True)


def open_views(browser: Browser) -> None:
    browser.settled()
    browser.page.get_by_role("button", name="Saved views").click()
    browser.settled("Save this view as")


def alert(browser: Browser) -> str:
    return browser.page.locator('[data-testid="stPopoverBody"] [data-testid="stAlert"]').first.inner_text()


def test_a_view_is_saved_found_by_another_renamed_and_deleted(browser, chromium, views) -> None:
    name = "Worst *states* <b>"
    chosen = {"run": DEMO_RUN, "of": "network", "split": "test", "notation": "emlc"}
    browser.open(f"accuracy?{urlencode(chosen)}", "The errors of the value function")
    open_views(browser)
    browser.page.get_by_label("Save this view as").fill(name)
    browser.page.get_by_role("button", name="Save", exact=True).click()
    browser.page.get_by_role("button", name=name, exact=True).wait_for()
    (view,), _ = views.every()
    assert (view.name, view.page) == (name, "accuracy")
    assert chosen.items() <= view.selection.items()

    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    other = Browser(context.new_page(), browser.printed)
    # What this one has selected does not become part of the view.
    other.open(f"value?run={DEMO_RUN}&notation=c2&v=3", "The value function V, a weighted sum")
    open_views(other)
    other.page.get_by_role("button", name=name, exact=True).click()
    other.page.wait_for_url("**/accuracy?*")
    other.settled("The errors of the value function")
    address = other.page.url
    assert all(f"{key}={value}" in address for key, value in chosen.items())
    assert "v=3" not in address

    def rename() -> None:
        if not other.page.get_by_label("Save this view as").is_visible():
            open_views(other)
        other.page.get_by_label("New name").fill("Better")
        other.page.get_by_label("New name").press("Enter")
        other.settled()
        other.page.get_by_role("button", name="Rename").click()

    other.insist(rename, other.page.get_by_role("button", name="Better", exact=True))
    assert [one.name for one in views.every()[0]] == ["Better"]

    def delete() -> None:
        if not other.page.get_by_label("Save this view as").is_visible():
            open_views(other)
        other.page.get_by_role("button", name="Delete").click(timeout=5_000)

    other.insist(delete, other.page.get_by_text("No view is saved yet").first)
    assert views.every() == ([], [])
    context.close()
    assert other.errors == []


def test_stale_bad_and_doubled_views_are_told(browser, views, runs_folder) -> None:
    views.save("gone", "value", {"run": "no-such-run"})
    views.save("nowhere", "nopage", {})
    (runs_folder / ".views" / "bad.json").write_text("{")
    browser.open(f"value?run={DEMO_RUN}", "The value function V, a weighted sum")
    open_views(browser)
    body = browser.page.locator('[data-testid="stPopoverBody"]')
    told = body.inner_text()
    assert "bad.json" in told
    assert "the run no-such-run does not exist" in told
    assert "there is no page nopage" in told
    for name, sentence in (("gone", "There is a view gone already"), ("", "A view needs a name")):
        browser.page.get_by_label("Save this view as").fill(name)
        browser.page.get_by_role("button", name="Save", exact=True).click()
        browser.settled(sentence)
