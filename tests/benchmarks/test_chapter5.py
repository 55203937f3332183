"""The tables and figures of chapter 5 of the thesis, made of given runs."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from distill.runs import Run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def chapter5() -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module("chapter5")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def models(chapter5) -> dict[str, object]:
    run = Run.load(next((ROOT / "app" / "demo").iterdir()))
    return {"gripper": chapter5.Model("gripper", {0: run, 1: run}, 4)}


def test_every_seed_and_the_published_figures_are_in_the_table(chapter5, models) -> None:
    rows = chapter5.errors_table(models, ["gripper"], {})
    assert [(row["model"], row.get("seed")) for row in rows] == [
        ("R-GNN gripper", None),
        ("R-IDT gripper", 0),
        ("R-IDT gripper", 1),
        ("R-IDT gripper, bad", None),
    ]
    assert rows[0]["published"] == [0.0073, 0.0069, 0.0754]
    assert rows[3]["published"] == [1.4020, 1.3297, 1.2855]
    with_readable = chapter5.errors_table(models, ["gripper"], {"gripper": models["gripper"].runs[0]})
    assert [row["model"] for row in with_readable][:2] == ["R-GNN gripper", "readable mode gripper"]
    known = models["gripper"].runs[0].metrics["splits"]
    assert rows[1]["ours"] == [known[split]["mae"] for split in ("train", "validation", "test")]


def test_a_figure_is_drawn_if_a_run_of_one_of_its_models_exists(chapter5, models, tmp_path) -> None:
    chapter5.draw_figures(models, tmp_path)
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["figure-5.1.svg", "figure-5.2.svg", "trees-gripper-bad.html", "trees-gripper.html"]
    page = (tmp_path / "trees-gripper.html").read_text()
    run = models["gripper"].runs[0]
    layers = {tree.layer for tree in run.trees}
    assert page.count("<h2>Layer") == len(layers - {-1})
    assert page.count("<svg") == 2 * len(layers)


def test_all_seeds_count_when_the_target_is_judged(chapter5, models) -> None:
    [line] = chapter5.targets(models)
    assert line.startswith(
        "gripper: 2 of 4 seeds; perfect on train 2, on all splits 2; least test error 0.0000"
    )
    assert ", within 1.5 times" in line


def test_a_folder_without_runs_is_one_sentence(chapter5, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["chapter5.py", "--runs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"has no runs of .*chapter5\.yaml; make them with `make thesis`"):
        chapter5.main()
