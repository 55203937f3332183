"""Families of a run: closed forms, checks on all splits, errors before and after."""

import json
import shutil
from pathlib import Path

import pytest

from distill.explanations import ValueFunction
from distill.jobs import do_job
from distill.logic import Number, hand_made, parse
from distill.runs import Run, close_run
from tests.support.commands import distill
from tests.support.small_jobs import small_config


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("families")
    return do_job(small_config(folder / "source"), folder / "runs", cache=folder / "cache")


def with_value(run: Run, folder: Path, value: Number) -> Run:
    """The same run with another value function."""
    shutil.copytree(run.folder, folder)
    ValueFunction(value, ()).save(folder / "model.json")
    return Run.load(folder)


def test_the_thesis_function_is_closed_and_goes_on(run, tmp_path):
    """With as many members as there are blocks it is right, and stays right; with fewer it becomes right."""
    most = int(run.states("train").n_objects.max())
    for members in (most, 4):
        value = hand_made("blocks-clear").value_function(members)
        found = close_run(with_value(run, tmp_path / str(members), value))
        [closing] = found.closings
        assert closing.replaced
        assert found.errors["train"].after == 0
        assert found.after.size < found.before.size
        assert found.if_replaced[0]["test"] == 0
        assert (found.errors["train"].before > 0) == (members < most)


def test_a_function_without_families_stays(run, tmp_path):
    value = parse("2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)")
    found = close_run(with_value(run, tmp_path / "none", value))
    assert found.after is value
    assert found.sentence.startswith("No family")


def test_the_command(run, tmp_path):
    folder = with_value(run, tmp_path / "thesis", hand_made("blocks-clear").value_function(5)).folder
    told = distill("families", folder)
    assert told.returncode == 0, told.stderr
    assert "(2k - 1)" in told.stdout
    assert "closed form" in told.stdout
    answer = json.loads(distill("families", folder, "--json").stdout)
    [family] = answer["families"]
    assert (family["slope"], family["offset"], family["replaced"]) == (2, -1, True)
    assert answer["size"]["after"] < answer["size"]["before"]
    assert set(answer["errors"]) == set(run.splits)


def test_bad_input(run, tmp_path):
    told = distill("families", run.folder, "--equal-on", "some")
    assert told.returncode == 2
    assert "choose from all, train" in told.stderr
    assert distill("families", tmp_path / "nothing").returncode == 2
