"""The workbench on a run of more than 100 000 states, beside an empty page of the same Streamlit.

The states of the run that comes along are repeated until one split alone has that many. For each page, the
time from the navigation until the page has settled, and from a typical click until it has settled again, is
measured in a real browser, when the server has shown the page once; settled is the last change of anything
on the page. The peer is a page with a title and a button. Everything should be below a second: what is not
is listed. Ratios are printed; seconds are in the JSON only.
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
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from comparing import Row, report

from distill.jobs import Run
from distill.jobs.run import checksum
from distill.planning import DataSet
from distill.planning.dataset import join

ROOT = Path(__file__).parents[1]
DEMO = next((ROOT / "app" / "demo").iterdir())
STATES = 100_000
LIMIT = 1.0  # second
_ROUNDS = 5
_QUIET = 600  # milliseconds without a change after which a page has settled
_EMPTY = "import streamlit as st; st.title('Empty'); st.text(f'clicked: {st.button(\"Click\")}')"
# The page itself notes when something was clicked, when anything changed, and when its script ended.
_NOTES = """
window.acted = 0; window.changed = 0;
for (const kind of ['pointerdown', 'keydown'])
  addEventListener(kind, () => { window.acted = performance.now(); }, true);
new MutationObserver(() => { window.changed = performance.now(); }).observe(
  document, {subtree: true, childList: true, attributes: true, characterData: true});
"""
_SETTLED = """quiet => document.querySelector('[data-test-script-state="notRunning"]')
  && window.changed > window.acted && performance.now() - window.changed > quiet"""


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
    """The address of a server, as long as it is needed; the command is told its port last."""
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


def settled(page: Any) -> tuple[float, float]:
    """When something was clicked last, and when anything changed last, in seconds of the page's clock."""
    page.wait_for_function(_SETTLED, arg=_QUIET, timeout=60_000)
    acted, changed = page.evaluate("[window.acted, window.changed]")
    return acted / 1000, changed / 1000


def measure(context: Any, address: str, clicks: list[Callable[[Any], None]]) -> tuple[float, float]:
    """Seconds of the first paint and of the reaction to clicks: medians, without those of the first visit."""
    paints, reactions = [], []
    for _ in range(1 + _ROUNDS):
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(address)
        page.locator('[data-testid="stMain"] h1').first.wait_for()
        paints.append(settled(page)[1])
        for click in clicks:
            click(page)
            acted, changed = settled(page)
            reactions.append(changed - acted)
        page.close()
    return statistics.median(paints[1:]), statistics.median(reactions[len(clicks) :])


def choose(label: str, option: str) -> Callable[[Any], None]:
    """Choose from a list."""

    def click(page: Any) -> None:
        page.get_by_role("combobox", name=label, exact=True).first.click()
        page.get_by_role("option", name=option, exact=True).first.click()

    return click


def press(name: str) -> Callable[[Any], None]:
    """Press a button."""
    return lambda page: page.get_by_role("button", name=name, exact=True).first.click()


def enter(label: str, text: str) -> Callable[[Any], None]:
    """Type something and press the enter key."""

    def click(page: Any) -> None:
        field = page.get_by_label(label, exact=True).first
        field.fill(text)
        field.press("Enter")

    return click


def visits(run: Run) -> dict[str, tuple[str, list[Callable[[Any], None]]]]:
    """For each page an address on the large split, and what one does there."""
    first, second = (str(feature.number) for _, feature in run.distilled.terms()[:2])
    kept: dict[str, tuple[dict[str, object], list[Callable[[Any], None]]]] = {
        "runs": ({}, [enter("Find", "large")]),
        "value": ({"split": "train"}, [choose("Notation", "EMLC"), choose("Notation", "English")]),
        "formulas": (
            {"split": "train", "formula": first},
            [enter("Formula", second), enter("Formula", first)],
        ),
        "state": ({"split": "train", "state": STATES}, [press("Next"), press("Random")]),
        "accuracy": ({}, [choose("Split", "train"), choose("Values of", "the network")]),
    }
    return {
        page: (f"{page}?{urlencode({'run': run.name, **keys})}", clicks)
        for page, (keys, clicks) in kept.items()
    }


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
        with served(empty) as address:
            peer = measure(context, address, [press("Click")])
        ours = [
            "-c",
            "from distill.cli import main; main()",
            "app",
            "--no-browser",
            "--store",
            place,
            "--port",
        ]
        with served(ours) as address:
            measure(context, address, [choose("Notation", "EMLC")])
            for name, (path, clicks) in visits(run).items():
                try:
                    paint, reaction = measure(context, f"{address}/{path}", clicks)
                except Exception as error:
                    print(f"{name} was not measured: {str(error).splitlines()[0]}", file=sys.stderr)
                    continue
                rows += [
                    Row(f"{name}: first paint", paint, peer[0]),
                    Row(f"{name}: a click", reaction, peer[1]),
                ]
        browser.close()
    states = sum(score["states"] for score in run.metrics["splits"].values())
    report(f"workbench on {states:,} states: times over those of an empty page", rows)
    if "--json" not in sys.argv:
        slow = [row.name for row in rows if row.ours >= LIMIT]
        print(f"  not within a second: {', '.join(slow) or 'none'}")
        if peer[0] >= LIMIT:
            print("  nor is the first paint of an empty page: this machine is slow, or busy")


if __name__ == "__main__":
    main()
