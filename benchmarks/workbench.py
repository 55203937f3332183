"""The workbench on a run of more than 100 000 states, beside an empty page of the same Streamlit.

The states of the run that comes along are repeated until one split alone has that many. Each page is opened
in a real browser, when the server has shown it once before, and times are taken on the page's own clock, from
the navigation or from a click on:

- first content: the title and what a reader came for are painted: the run that is selected, the value
  function, the formula that is selected, the picture of the state, the metrics; on other pages, what follows
  the title and its sentence;
- settled: nothing on the page changes any more; what is below is drawn by then as well;
- a click: nothing changes any more after a typical click;
- from another page: nothing changes any more after a click at the side; the browser has the workbench loaded.

The peer is a page with a title, a text and a button beside another such page, which is opened in turn with
each page, so that both meet the same machine. Clicks and changes of the page should take less than a second:
what does not is listed. Loading itself takes an empty page most of a second. Ratios are printed; seconds are
in the JSON only.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from comparing import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.session.main import PAGES
from distill.runs import Run, checksum
from distill.structures import DataSet, join
from tests.support.browser import served as workbench

ROOT = Path(__file__).parents[1]
DEMO = next((ROOT / "app" / "demo").iterdir())
STATES = 100_000
LIMIT = 1.0  # second
Click = Callable[[Any], None]
_ROUNDS = 4
_QUIET = 600  # milliseconds without a change after which a page has settled
_EMPTY = """
import streamlit as st
def page(title):
    def shown():
        st.title(title)
        with st.container(key="first"):
            st.text(f"clicked: {st.button('Click')}")
    return shown
pages = [st.Page(page(title), title=title, url_path=title.lower()) for title in ("Empty", "Other")]
st.navigation(pages).run()
"""
# The page itself notes when something was clicked, when its first content came, and when anything changed.
_NOTES = """
window.acted = 0; window.changed = 0; window.first = 0; window.title = '';
for (const kind of ['pointerdown', 'keydown'])
  addEventListener(kind, () => { window.acted = performance.now(); }, true);
const wanted = {
  runs: 'code, .katex', value: 'code, .katex', formulas: 'code, .katex', state: 'img', accuracy: 'table',
};
const there = () => {
  const main = document.querySelector('[data-testid="stMain"]');
  const title = main && main.querySelector('h1');
  if (!title || window.title && title.innerText.trim() !== window.title) return false;
  const place = main.querySelector('.st-key-first');
  if (!place)
    return [...main.querySelectorAll('[data-testid="stElementContainer"]')]
      .filter(one => one.innerText.trim()).length > 3;
  const kind = wanted[location.pathname.split('/').pop()];
  const found = kind ? place.querySelector(kind) : place;
  if (!found || !found.getClientRects().length || found.closest('[data-stale="true"]')) return false;
  return found.tagName === 'IMG' ? found.complete && found.naturalWidth > 0 : true;
};
const look = () => {
  if (window.first || !there()) return;
  window.first = 1;  // the next frame shows it
  requestAnimationFrame(() => { window.first = performance.now(); });
};
addEventListener('load', look, true);  // of pictures
new MutationObserver(() => { window.changed = performance.now(); look(); }).observe(
  document, {subtree: true, childList: true, attributes: true, characterData: true});
"""
_SETTLED = """quiet => document.querySelector('[data-test-script-state="notRunning"]')
  && window.changed > window.acted && window.first > 1 && performance.now() - window.changed > quiet"""


@dataclass
class Times:
    """Seconds of one page, one number for each visit or click."""

    first: list[float] = field(default_factory=list)
    settled: list[float] = field(default_factory=list)
    click: list[float] = field(default_factory=list)
    switched: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Visit:
    """A page that is looked at.

    Attributes
    ----------
    address : where it is.
    title : what it is called at the side.
    clicks : what one does there, if there is something typical.
    other : the title of another page.
    """

    address: str
    title: str
    clicks: list[Click]
    other: str = "Runs"


def large_run(store: Path) -> Run:
    """The run that comes along with its training states repeated, in a store."""
    source = Run.load(DEMO)
    folder = Path(shutil.copytree(DEMO, store / "large"))
    data = source.states("train")
    times = -(-STATES // len(data))
    many = join([_copy(data, number) for number in range(times)])
    many.save(folder / "states" / "train.npz", compressed=True)
    table = source.predictions()
    train = table["split"] == "train"
    repeated = pd.concat([table[train]] * times, ignore_index=True)
    repeated["state"] = range(len(many))
    repeated["instance"] = many.state_instance
    whole = pd.concat([repeated, table[~train]], ignore_index=True).astype({"split": table["split"].dtype})
    whole.to_parquet(folder / "predictions.parquet", index=False)
    metrics: dict[str, Any] = json.loads(json.dumps(source.metrics))
    metrics["splits"]["train"]["states"] = len(many)
    metrics["splits"]["train"]["instances"] = len(many.instances)
    metrics["plans"]["train"] *= times
    (folder / "metrics.json").write_text(json.dumps(metrics))
    inputs = json.loads((folder / "inputs.json").read_text())
    inputs["files"] = {name: checksum(folder / name) for name in inputs["files"]}
    (folder / "inputs.json").write_text(json.dumps(inputs))
    return Run.load(folder)


def _copy(data: DataSet, number: int) -> DataSet:
    instances = tuple({**one, "name": f"{one['name']} ({number})"} for one in data.instances)
    return replace(data, instances=instances)


@contextmanager
def served(command: list[str]) -> Iterator[str]:
    """The address of a server, as long as it is needed; the port is the last argument of the command."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(  # noqa: S603
        [sys.executable, *command, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "STREAMLIT_SERVER_HEADLESS": "true"},
    )
    address = f"http://localhost:{port}"
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):  # noqa: S310
                    break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def settled(page: Any) -> tuple[float, float, float]:
    """When something was clicked last, when the first content was there, and when anything changed last."""
    page.wait_for_function(_SETTLED, arg=_QUIET, timeout=120_000)
    acted, first, changed = page.evaluate("[window.acted, window.first, window.changed]")
    return acted / 1000, first / 1000, changed / 1000


def go(page: Any, title: str) -> float:
    """Go to another page by a click at the side; seconds until nothing changes any more."""
    page.evaluate("title => { window.first = 0; window.title = title; }", title)
    page.locator('[data-testid="stSidebarNav"]').get_by_role("link", name=title, exact=True).click()
    acted, _, changed = settled(page)
    return changed - acted


def visit(context: Any, wanted: Visit, times: Times) -> None:
    """Open a page, click, leave it and come back, and note how long each took."""
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(wanted.address)
    _, first, changed = settled(page)
    times.first.append(first)
    times.settled.append(changed)
    for click in wanted.clicks:
        click(page)
        acted, _, changed = settled(page)
        times.click.append(changed - acted)
    go(page, wanted.other)
    times.switched.append(go(page, wanted.title))
    page.close()


def measure(context: Any, ours: Visit, peer: Visit) -> tuple[Times, Times]:
    """A page and its peer in turn, without those of the first visit."""
    for wanted in (ours, peer):
        visit(context, wanted, Times())
    found = Times(), Times()
    for _ in range(_ROUNDS):
        for times, wanted in zip(found, (ours, peer), strict=True):
            visit(context, wanted, times)
    return found


def choose(label: str, option: str) -> Click:
    """Choose from a list."""

    def click(page: Any) -> None:
        page.get_by_role("combobox", name=label, exact=True).first.click()
        page.get_by_role("option", name=option, exact=True).first.click()

    return click


def press(name: str) -> Click:
    """Press a button."""
    return lambda page: page.get_by_role("button", name=name, exact=True).first.click()


def enter(label: str, text: str) -> Click:
    """Type something and press the enter key."""

    def click(page: Any) -> None:
        field = page.get_by_label(label, exact=True).first
        field.fill(text)
        field.press("Enter")

    return click


def visits(run: Run, server: str) -> dict[str, Visit]:
    """Each page on the large split."""
    first, second = (str(feature.number) for _, feature in run.value_function.terms()[:2])
    kept: dict[str, tuple[dict[str, object], list[Click]]] = {
        "runs": ({}, [enter("Find", "large")]),
        "value": ({"split": "train"}, [choose("Notation", "EMLC"), choose("Notation", "English")]),
        "formulas": (
            {"split": "train", "formula": first},
            [enter("Formula", second), enter("Formula", first)],
        ),
        "state": ({"split": "train", "state": STATES}, [press("Next"), press("Random")]),
        "accuracy": ({}, [choose("Split", "train"), choose("Values of", "the network")]),
        "laboratory": (
            {"split": "train", "formula": "#<at>at-robby"},
            [
                enter("Formula", "#(<at_G>room & <carry>gripper)"),
                press("Add the formula to V"),
                press("Remove"),
                press("Discard all edits"),
            ],
        ),
        "compare": ({"runs": f"{run.name},{DEMO.name}"}, [choose("Notation", "EMLC")]),
    }
    found = {}
    for page, title, _ in PAGES:
        keys, clicks = kept.get(page, ({"split": "train"}, []))
        other = "Runs" if title != "Runs" else "Value function"
        address = f"{server}/{page}?{urlencode({'run': run.name, **keys})}"
        found[page] = Visit(address, title, clicks, other)
    return found


def main() -> None:
    """Measure all pages."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("There is no chromium here (on Debian: apt-get install chromium): nothing is measured.")
        return
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place, sync_playwright() as running:
        run = large_run(Path(place))
        (Path(place) / "empty.py").write_text(_EMPTY)
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.add_init_script(_NOTES)
        empty = ["-m", "streamlit", "run", f"{place}/empty.py", "--server.address=localhost", "--server.port"]
        with served(empty) as nothing, workbench(Path(place), Path(place) / "log.txt") as printed:
            context.request.get(printed)  # the context has the token from here on
            peer = Visit(nothing, "Empty", [press("Click")], "Other")
            for name, wanted in visits(run, printed.partition("/?")[0]).items():
                try:
                    mine, other = measure(context, wanted, peer)
                except Exception as error:
                    print(f"{name} was not measured: {str(error).splitlines()[0]}", file=sys.stderr)
                    continue
                rows += [
                    Row(f"{name}: {label}", statistics.median(own), statistics.median(others))
                    for label, own, others in (
                        ("first content", mine.first, other.first),
                        ("settled", mine.settled, other.settled),
                        ("a click", mine.click, other.click),
                        ("from another page", mine.switched, other.switched),
                    )
                    if own
                ]
        browser.close()
    states = sum(score["states"] for score in run.metrics["splits"].values())
    report(f"workbench on {states:,} states: times over those of an empty page", rows)
    if "--json" not in sys.argv:
        asked = [row for row in rows if row.name.endswith(("a click", "from another page"))]
        print(f"  not within a second: {', '.join(row.name for row in asked if row.ours >= LIMIT) or 'none'}")
        loaded = [row for row in rows if row.name.endswith("first content")]
        slow = ", ".join(row.name for row in loaded if row.ours >= LIMIT) or "none"
        print(f"  not within a second, the browser's loading included: {slow}")
        if any(row.peer >= LIMIT for row in loaded):
            print("  nor is the empty page: this machine is slow, or busy")


if __name__ == "__main__":
    main()
