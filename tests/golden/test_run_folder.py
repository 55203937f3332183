"""The folder of a run: its name, its files and their bytes. Logs have times, and are left out."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.golden.support import Golden, World, as_text, files_of

READABLE = ("config.yaml", "model.json")
# Least squares are not unique here: the last digits, which differ between processors, decide which weights
# are not zero. The digests compare these functions where the processor is the same.
ROUNDED = ("quotient", "thesis")
SETTINGS = {
    "readable": (),
    "quotient": ("mode=quotient",),
    "thesis": ("mode=thesis", "seed=1"),
    "model": ("target=model",),
    "polish": ("pool=ridt+polish",),
    "enumerate": ("pool=enumerate", "feature_size=4"),
    "untrained": ("control=untrained",),
    "least-errors": ("mode=quotient", "regression=absolute"),
}


def made(world: World, kind: str) -> Path:
    options = [part for setting in SETTINGS[kind] for part in ("--set", setting)]
    return world.run("run.yaml", *options)


class Outline(HTMLParser):
    """The elements of a page outside its figures, and the cells of its tables; sentences may be reworded."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.figures = self.column = 0
        self.cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.figures += tag == "svg"
        if self.figures:
            return
        known = [f"{name}={value}" for name, value in attrs if name in ("class", "id", "scope")]
        self.lines.append(" ".join([tag, *known]))
        self.column = 0 if tag == "tr" else self.column + (tag in ("td", "th"))
        if tag in ("td", "th"):
            self.cell = []

    def handle_endtag(self, tag: str) -> None:
        # the fourth column of a table of settings says what they mean
        if tag in ("td", "th") and self.cell is not None:
            text = "".join(self.cell)
            self.lines[-1] += f": {text}" if self.column < 4 and " " not in text else ""
            self.cell = None
        self.figures -= tag == "svg"

    def handle_data(self, data: str) -> None:
        if self.cell is not None and not self.figures:
            self.cell.append(data)


def outline(page: str) -> str:
    parser = Outline()
    parser.feed(page)
    return "\n".join(parser.lines) + "\n"


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_files_of_a_run(kind: str, world: World, golden: Golden) -> None:
    folder = made(world, kind)
    files = files_of(folder)
    # the report explains the settings in sentences that may be reworded; the inputs have its digest
    page = files.pop("report.html").decode()
    inputs = json.loads(files["inputs.json"])
    assert set(inputs["files"]) == {*files, "report.html"} - {"inputs.json", "log.jsonl"}
    inputs["files"] = sorted(inputs["files"])
    files["inputs.json"] = as_text(inputs).encode()
    steps = [json.loads(line) for line in files.pop("log.jsonl").splitlines()]
    assert all(step.keys() == {"stage", "key", "made", "seconds", "damaged"} for step in steps)
    golden.check_digests(f"runs/{kind}/files.json", files)
    golden.check({f"runs/{kind}/name.txt": f"{folder.name}\n"})
    if kind not in ROUNDED:
        golden.check({f"runs/{kind}/value.txt": files["value.txt"].decode()})
    if kind == "readable":
        golden.check({f"runs/{kind}/{name}": files[name].decode() for name in READABLE})
        golden.check({f"runs/{kind}/inputs.json": as_text(inputs)})
        golden.check_answer(f"runs/{kind}/metrics.json", world.plain(json.loads(files["metrics.json"])))
        golden.check({f"runs/{kind}/report.outline.txt": outline(page)})


def test_the_page_of_the_report_needs_nothing_else(world: World) -> None:
    page = (made(world, "readable") / "report.html").read_text()
    assert not re.search(r"<(script|link|img)\b", page)
