"""Views with names, at the side of every page; and a page as one HTML file."""

import re
import shutil
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from app.opened import DEMO
from distill.jobs.views import Views
from tests.app.conftest import Browser

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
    browser.open(f"accuracy?{urlencode(chosen)}", "Is the value function right")
    open_views(browser)
    browser.page.get_by_label("Save this view as").fill(name)
    browser.page.get_by_role("button", name="Save", exact=True).click()
    browser.page.get_by_role("button", name=name, exact=True).wait_for()
    (view,), _ = views.every()
    assert (view.name, view.page) == (name, "accuracy")
    assert chosen.items() <= view.selection.items()

    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    other = Browser(context.new_page(), browser.address)
    # What this one has selected does not become part of the view.
    other.open(f"value?run={DEMO_RUN}&notation=c2&v=3", "What the planner became in logic")
    open_views(other)
    other.page.get_by_role("button", name=name, exact=True).click()
    other.page.wait_for_url("**/accuracy?*")
    other.settled("Is the value function right")
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

    other.insist(delete, other.page.get_by_text("No view was saved yet").first)
    assert views.every() == ([], [])
    context.close()
    assert other.errors == []


def test_stale_bad_and_doubled_views_are_told(browser, views, runs_folder) -> None:
    views.save("gone", "value", {"run": "no-such-run"})
    views.save("nowhere", "nopage", {})
    (runs_folder / ".views" / "bad.json").write_text("{")
    browser.open(f"value?run={DEMO_RUN}", "What the planner became in logic")
    open_views(browser)
    body = browser.page.locator('[data-testid="stPopoverBody"]')
    told = body.inner_text()
    assert "bad.json" in told
    assert "the run no-such-run is gone" in told
    assert "there is no page nopage" in told
    for name, sentence in (("gone", "There is a view gone already"), ("", "A view needs a name")):
        browser.page.get_by_label("Save this view as").fill(name)
        browser.page.get_by_role("button", name="Save", exact=True).click()
        browser.settled(sentence)


class Outline(HTMLParser):
    """What a page has: how many elements of each kind, its text, and whatever it would load or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.kinds: dict[str, int] = {}
        self.loads: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.kinds[tag] = self.kinds.get(tag, 0) + 1
        for key, value in attrs:
            if key in ("src", "href", "data", "action") and not str(value).startswith("#"):
                self.loads.append(f"{tag} {key}={value}")
            if key.startswith("on"):
                self.loads.append(f"{tag} {key}")

    def handle_data(self, data) -> None:
        self.text += data


def saved(browser: Browser) -> str:
    browser.settled()
    browser.page.get_by_role("button", name="This page as a file").click()
    save = browser.page.get_by_role("button", name="Save", exact=True)
    save.wait_for()
    _, text = browser.download(save.click)
    return text


@pytest.mark.parametrize(
    ("path", "wanted", "tables", "figures"),
    [
        ("accuracy?of=network&split=test", "Is the value function right", 2, 1),
        ("state?split=test&state=40", "Successors", 3, 1),
    ],
)
def test_a_page_as_a_file_shows_the_same_and_loads_nothing(
    browser, chromium, tmp_path, path, wanted, tables, figures
) -> None:
    browser.open(f"{path}&run={DEMO_RUN}", wanted)
    text = saved(browser)
    found = Outline(text)
    assert found.kinds["table"] >= tables
    assert found.kinds["svg"] >= figures
    assert found.kinds.get("script", 0) == 0
    assert found.loads == []
    assert wanted in found.text
    assert f"run={DEMO_RUN}" in found.text
    file = tmp_path / "page.html"
    file.write_text(text)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.goto(file.as_uri())
    assert page.get_by_role("table").first.is_visible()
    assert page.locator("figure svg").first.bounding_box()["width"] > 200
    context.close()
    assert asked == [file.as_uri()]
    assert wrong == []
    if "state" in path:
        # The numbers are those on the page.
        contributions = re.search(r"add up to ([-\d.]+)", browser.text())[1]
        assert f"add up to {contributions}" in found.text


def script() -> None:
    import altair as alt
    import pandas as pd
    import streamlit as st

    from app.plain import plain
    from app.snapshot import as_html, noted

    evil = "<img src=x onerror=alert(1)>"
    with noted() as shown:
        st.title(plain(evil))
        later = st.container()
        st.text("second")
        later.text("first")
        st.dataframe(pd.DataFrame({"name": [evil], "share": [0.25], "link": ["x?a"]}), column_config={
            "share": st.column_config.NumberColumn("part", format="percent"),
            "link": st.column_config.LinkColumn(),
        })  # fmt: skip
        with st.expander("Empty one"):
            pass
        with st.expander("Full one"):
            st.code(evil)
        with st.popover("Export"):
            st.text("hidden")
        st.success("good")
        st.html(
            f"<pre onclick='x()' style='color:red'>a &lt; b</pre><style>p {{}}</style><a href='{evil}'>w</a>"
        )
        place = st.empty()
        place.text("before")
        place.text("after")
        st.altair_chart(
            alt.Chart(pd.DataFrame({"a": [1, 2], "b": [evil, "c"]})).mark_bar().encode(x="a", y="b:N")
        )
        st.image('<svg xmlns="http://www.w3.org/2000/svg" width="9"><script>1</script><path d="M0 0"/></svg>')
    st.text("not noted")
    st.session_state["html"] = as_html("Page", shown)
    st.session_state["number"] = len(shown)


def test_what_is_noted_becomes_markup_in_order_and_escaped() -> None:
    at = AppTest.from_function(script, default_timeout=60).run()
    assert not at.exception
    text = at.session_state["html"]
    found = Outline(text)
    evil = "<img src=x onerror=alert(1)>"
    assert "img" not in found.kinds
    assert found.loads == []
    assert found.text.count(evil) >= 4  # heading, table, code, axis of the chart
    assert found.text.index("first") < found.text.index("second")
    assert "25%" in found.text
    assert "part" in found.text
    assert "x?a" not in found.text
    assert "Empty one" not in found.text
    assert "Full one" in found.text
    assert "hidden" not in found.text
    assert "before" not in found.text
    assert "after" in found.text
    assert "not noted" not in found.text
    assert "<pre>a &lt; b</pre>" in text
    assert "a" not in found.kinds
    assert found.kinds["svg"] == 2
    assert found.kinds["figure"] == 2


def test_where_no_chart_can_be_drawn_its_numbers_are_shown(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    at = AppTest.from_function(script, default_timeout=60).run()
    found = Outline(at.session_state["html"])
    assert found.kinds["figure"] == 1
    assert found.kinds["table"] == 2
    assert "its numbers" in found.text
