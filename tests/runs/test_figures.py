"""Figures of runs."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import image

from distill.runs import Run, draw_comparison

DEMO = Path(__file__).parents[2] / "app" / "demo"


@pytest.fixture(scope="module")
def demo() -> Run:
    return Run.load(next(DEMO.iterdir()))


def test_a_comparison_has_a_row_for_each_run_and_each_network(demo, tmp_path) -> None:
    # Panels are 5 x 3 inches of 150 dots. Both runs explain the same network, which is drawn once.
    for runs, rows in (([demo], 2), ([demo, demo], 3)):
        draw_comparison(runs, tmp_path / "runs.png")
        height, width, _ = image.imread(tmp_path / "runs.png").shape
        assert (height, width) == (rows * 450, len(demo.splits) * 750)


def test_the_same_runs_give_the_same_file(demo, tmp_path) -> None:
    for name in ("one", "other"):
        draw_comparison([demo], tmp_path / f"{name}.png")
    one, other = (image.imread(tmp_path / f"{name}.png") for name in ("one", "other"))
    assert np.array_equal(one, other)
