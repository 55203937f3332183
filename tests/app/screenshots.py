"""Pictures of the workbench: every page on the run that comes along, with something selected.

`make screenshots` writes those of the light theme to `docs/screenshots`, for the documents, and those of the
dark theme to `artifacts/runs/screenshots`, for whoever changes a page to look at. A page that cannot be
shown does not keep the others from being drawn.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Error, sync_playwright

from app.session.run_index import DEMO
from distill.logic import Count, Evaluator
from distill.runs import Run
from tests.support.browser import CHROMIUM, FLAGS, Browser, served

ROOT = Path(__file__).parents[2]
FOLDERS = {"light": ROOT / "docs" / "screenshots", "dark": ROOT / "artifacts" / "runs" / "screenshots"}
WIDTH = 1400
LARGEST = 300_000  # bytes of a picture
# Where the project is on this machine is nobody's business.
_NO_PATHS = """root => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode())
    texts.currentNode.data = texts.currentNode.data.replaceAll(root, '/home/you/planning-distill');
}"""


def pages(run: Run) -> dict[str, tuple[str, int]]:
    """For each picture the address that it shows, and how much of the page in pixels."""
    numbers = sorted((f.number for _, f in run.value_function.terms()), key=lambda n: (n.size, n.order))
    counted = next(number for number in numbers if isinstance(number, Count))
    data = run.states("test")
    held = Evaluator(data.structures(goal_marking=run.value_function.goal_marking)).number(counted)
    most = int(np.lexsort((data.v_star, held))[-1])
    chosen: dict[str, tuple[dict[str, object], int]] = {
        "runs": ({}, 900),
        "value": ({"notation": "emlc"}, 1200),
        "formulas": ({"formula": numbers[-1], "split": "test"}, 1700),
        "state": ({"split": "test", "state": most, "formula": counted.fields[0]}, 1500),
        "accuracy": ({"of": "network"}, 1500),
        "trees": ({"split": "test", "state": most}, 1700),
        "expressivity": ({"split": "train"}, 1200),
        "laboratory": ({"drop": "1", "base": run.name, "formula": counted}, 1900),
        "work": ({"network": "gripper", "distillation.seed": 1}, 900),
    }
    return {
        page: (f"{page}?{urlencode({'run': run.name, **keys})}", height)
        for page, (keys, height) in chosen.items()
    }


def picture(browser: Browser, file: Path, height: int) -> None:
    """The upper part of the page, less of it if that takes too many bytes."""
    while True:
        browser.page.set_viewport_size({"width": WIDTH, "height": height})
        browser.page.wait_for_timeout(1500)  # charts are drawn after the page is complete
        browser.page.evaluate(_NO_PATHS, str(ROOT))
        browser.page.screenshot(path=file)
        if file.stat().st_size <= LARGEST or height < 500:
            return
        height -= 200


def drawn(chromium: Any, address: str, path: str, height: int, theme: str, file: Path) -> str | None:
    """Draw a page; what went wrong, if something did."""
    context = chromium.new_context(viewport={"width": WIDTH, "height": height}, color_scheme=theme)
    browser = Browser(context.new_page(), address)
    try:
        browser.open(path)
        browser.page.locator('[data-testid="stMain"] h1').first.wait_for()
        browser.settled()
        picture(browser, file, height)
    except Error as error:
        return str(error).splitlines()[0]
    finally:
        context.close()
    return "; ".join(browser.errors) or None


def main() -> int:
    """Draw all pages; the number of those that went wrong."""
    run = Run.load(next(DEMO.iterdir()))
    failures = 0
    with tempfile.TemporaryDirectory() as place, sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        shutil.copytree(run.folder, Path(place) / "runs" / run.name)
        with served(Path(place) / "runs", Path(place) / "log.txt") as address:
            for theme, folder in FOLDERS.items():
                folder.mkdir(parents=True, exist_ok=True)
                for name, (path, height) in pages(run).items():
                    file = folder / f"{name}.png"
                    wrong = drawn(chromium, address, path, height, theme, file)
                    failures += wrong is not None
                    print(file.relative_to(ROOT), f"FAILED: {wrong}" if wrong else "")
        chromium.close()
    return failures


if __name__ == "__main__":
    sys.exit(main())
