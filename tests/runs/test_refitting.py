"""Refits as jobs: an exact solve of given formulas, its files, what is refused, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from distill.cli.main import app
from distill.common import InputError
from distill.explanations import FORMS, candidates
from distill.jobs import do_job
from distill.logic import Evaluator, parse, read_formula
from distill.runs import Request, Run, refit_run, refits_in
from distill.runs.refitting import RESULT
from tests.support.small_jobs import small_config

HAND_MADE = ("#<on+>clear_G", "[#<on+>clear_G > 0]", "[#(clear_G & ~clear) > 0] & [#holding > 0]")
EXACT = "2*#<on+>clear_G - [#<on+>clear_G > 0] + ([#(clear_G & ~clear) > 0] & [#holding > 0])"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("refitted")
    return do_job(small_config(folder / "source"), folder / "runs", cache=folder / "cache")


def all_terms(run: Run) -> tuple[int, ...]:
    return tuple(range(1, len(candidates(run.value_function.value)[0]) + 1))


def test_an_exact_solve_finds_the_hand_made_function(run, tmp_path) -> None:
    request = Request((*HAND_MADE, "#ontable"), all_terms(run), exact=True, time_limit=20)
    done = refit_run(run, request, tmp_path)
    assert parse(done.result["value"]) == parse(EXACT)
    assert done.result["exact"]
    assert done.result["proved"]
    assert [score["wrong"] for score in done.result["after"].values()] == [0] * len(run.splits)
    files = {kept.file for kept in FORMS.values()}
    assert {file.name for file in done.folder.iterdir()} == {RESULT, *files}
    assert read_formula((done.folder / "value.json").read_text()) == parse(EXACT)
    assert json.loads((done.folder / RESULT).read_text()) == done.result


def test_errors_before_and_after_are_those_of_the_functions(run, tmp_path) -> None:
    done = refit_run(run, Request(("#holding",), (1,)), tmp_path)
    for split in run.splits:
        data = run.states(split)
        states, known = Evaluator(data.structures()), data.v_star >= 0
        for key, value in (("before", run.value_function.value), ("after", parse(done.result["value"]))):
            off = np.abs(states.number(value) - data.v_star)[known]
            assert done.result[key][split]["mae"] == pytest.approx(off.mean())
            assert done.result[key][split]["states"] == known.sum()


def test_a_result_is_never_written_over_and_equal_requests_have_one(run, tmp_path) -> None:
    first = refit_run(run, Request(("#holding",)), tmp_path)
    (first.folder / "note.txt").write_text("mine")
    again = refit_run(run, Request((" # holding ",)), tmp_path)
    assert again.folder == first.folder
    assert (again.folder / "note.txt").read_text() == "mine"
    other = refit_run(run, Request(("#holding",), exact=True, time_limit=5), tmp_path)
    assert other.folder != first.folder
    assert {one.folder for one in refits_in(tmp_path, run.name)} == {first.folder, other.folder}
    (other.folder / RESULT).write_text("{")
    assert [one.folder for one in refits_in(tmp_path)] == [first.folder]
    assert list(refits_in(tmp_path, "another run")) == []


def test_the_pool_helps_but_not_with_what_was_removed(run, tmp_path) -> None:
    dropped = candidates(run.value_function.value)[0][0].number
    done = refit_run(run, Request((), (1,), exact=True, pool=True, time_limit=5), tmp_path)
    assert dropped not in {parse(formula) for _, formula in done.result["terms"]}
    alone = refit_run(run, Request((), (1,), exact=True, time_limit=5), tmp_path)
    assert done.result["columns"] > alone.result["columns"]


@pytest.mark.parametrize(
    ("added", "dropped", "sentence"),
    [
        (["#cleer"], [], "did you mean clear"),
        (["#clear &"], [], "Column"),
        (["no:99999"], [], "no formula 99999"),
        ([], [999], "no term 999"),
    ],
)
def test_what_cannot_be_done_is_told_and_leaves_nothing_behind(
    run, tmp_path, added, dropped, sentence
) -> None:
    with pytest.raises(InputError, match=sentence):
        refit_run(run, Request(tuple(added), tuple(dropped)), tmp_path)
    assert list(tmp_path.rglob("*.json")) == []


def test_the_command_prints_and_keeps_the_function(run, tmp_path) -> None:
    def called(*arguments: str) -> str:
        command = ["refit", str(run.folder), *arguments, "--out", str(tmp_path)]
        result = CliRunner().invoke(app, command, catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    drops = [f"--drop={place}" for place in all_terms(run)]
    adds = [f"--add={formula}" for formula in HAND_MADE]
    told = json.loads(called(*adds, *drops, "--exact", "--seconds", "20", "--json"))
    assert parse(told["value"]) == parse(EXACT)
    assert (Path(told["folder"]) / "value.txt").exists()
    assert "exact on all training states" in called(*adds, *drops, "--exact", "--seconds", "20")
