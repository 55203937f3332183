"""`distill batch`, `distill runs` and `distill verify-run`, as a user runs them."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.commands import DISTILL, PATIENCE, distill, until
from tests.support.small_jobs import small_content, small_sweep


def answer(*arguments: object, code: int = 0):
    done = distill(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    small_sweep(folder, "seeds", cases=[{"max_features": 4}, {"regression": "squares"}], seeds=2)
    return folder / "seeds.yaml"


@pytest.fixture(scope="module")
def done(sweep, tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A store after a batch: two jobs done, two failed."""
    store = tmp_path_factory.mktemp("store") / "runs"
    return store, distill("batch", sweep, "--out", store, "--workers", 2)


def test_a_dry_run_does_nothing(sweep, tmp_path):
    plan = answer("batch", sweep, "--out", tmp_path / "runs", "--dry-run")
    assert (plan["jobs"], plan["waiting"]) == (4, 4)
    stages = {row["stage"]: row["distinct"] for row in plan["stages"]}
    assert stages == {"data": 1, "train": 0, "replay": 2, "distil": 2, "regress": 4, "evaluate": 4}
    assert not (tmp_path / "runs").exists()
    shown = distill("batch", sweep, "--out", tmp_path / "runs", "--dry-run").stdout
    assert "4 jobs: 0 done, 0 failed, 4 to do" in " ".join(shown.split())


@pytest.mark.slow
def test_a_batch_tells_what_was_done_and_what_failed(done):
    store, told = done
    assert told.returncode == 1
    assert "2 of 4 jobs done" in told.stdout
    assert told.stderr.count("Failed:") == 2
    assert "Readable mode has no regression squares" in " ".join(told.stderr.split())
    assert "Traceback" not in told.stderr
    place = Path(re.search(r"summary: (\S+)", told.stdout)[1])
    assert (place / "summary.csv").read_text().count("failed") == 2
    assert place.parent == store / "sweeps"


@pytest.mark.slow
def test_a_batch_goes_on_where_it_stopped(done, sweep):
    store, _ = done
    again = answer("batch", sweep, "--out", store, code=1)
    assert [job["state"] for job in again["jobs"]] == ["done", "done", "failed", "failed"]
    retried = answer("batch", sweep, "--out", store, "--retry-failed", code=1)
    assert [job["state"] for job in retried["jobs"]] == ["done", "done", "failed", "failed"]


@pytest.mark.slow
def test_runs_are_listed_shown_compared_and_removed(done, tmp_path):
    store = tmp_path / "copy"
    subprocess.run(["cp", "-r", done[0], store], check=True)  # noqa: S607
    listed = answer("runs", "list", "--store", store)
    names = [run["run"] for run in listed["runs"]]
    assert len(names) == 2
    assert set(listed["jobs"].values()) == {"failed"}
    table = "".join(distill("runs", "list", "--store", store).stdout.split())
    assert all(name in table for name in names)
    assert "failed:Readablemodehasnoregressionsquares" in table
    assert answer("runs", "list", "--store", store, "--problem", "chess")["runs"] == []
    shown = answer("runs", "show", names[0], "--store", store)
    assert shown["config"]["distillation"]["max_features"] == 4
    assert "V = " in distill("runs", "show", names[0][-6:], "--store", store).stdout
    compared = answer("runs", "compare", *names, "--store", store)
    assert set(compared["settings"]) == {"distillation.seed"}
    assert sorted(compared["settings"]["distillation.seed"]) == [0, 1]
    assert len(compared["metrics"]["test MAE"]) == 2
    assert {len(term["weights"]) for term in compared["terms"]} == {2}
    same = answer("runs", "compare", names[0], names[0], "--store", store)
    assert same["settings"] == {}
    assert same["terms"]
    assert all(a == b for a, b in (term["weights"] for term in same["terms"]))
    drawn = tmp_path / "both.svg"
    assert "Weights" in distill("runs", "compare", *names, "--store", store, "--figure", drawn).stdout
    assert drawn.exists()
    wrong = distill("runs", "compare", *names, "--store", store, "--figure", tmp_path / "both.txt")
    assert wrong.returncode == 2
    assert "must end in one of" in wrong.stderr
    kept = distill("runs", "rm", names[0], "--store", store)
    assert kept.returncode != 0, "nobody said yes"
    assert (store / names[0]).exists()
    removed = distill("runs", "rm", names[0], "--yes", "--store", store)
    assert removed.returncode == 0
    assert [run["run"] for run in answer("runs", "list", "--store", store)["runs"]] == names[1:]


@pytest.mark.slow
def test_a_run_is_verified_by_its_folder_alone(done, tmp_path):
    store, _ = done
    name = answer("runs", "list", "--store", store)["runs"][0]["run"]
    moved = tmp_path / "elsewhere"
    subprocess.run(["cp", "-r", store / name, moved], check=True)  # noqa: S607
    told = distill("verify-run", moved, "--json", DISTILL_CACHE=str(tmp_path / "empty"))
    assert told.returncode == 0, told.stderr
    checks = {check["what"] for check in json.loads(told.stdout)["checks"]}
    assert {"splits.test.mae", "splits.train.greedy_optimal_steps", "fidelity.mae", "plans.train"} <= checks
    (moved / "predictions.parquet").write_bytes(b"")
    wrong = distill("verify-run", moved)
    assert wrong.returncode == 1
    assert "predictions.parquet" in wrong.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("runs", "show", "nothing"), "There is no run nothing"),
        (("runs", "compare", "one"), "needs two or more runs"),
        (("runs", "rm", "nothing", "--yes"), "There is no run nothing"),
        (("verify-run", "nothing"), "There is no run nothing"),
        (("batch", "no.yaml"), "no.yaml"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments, told, tmp_path):
    store = ("--out",) if arguments[0] == "batch" else ("--store",)
    done = distill(*arguments, *store, tmp_path / "runs")
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_no_runs_says_how_to_make_one(tmp_path):
    assert "make one with `distill run" in distill("runs", "list", "--store", tmp_path).stdout


def test_errors_in_a_sweep_name_their_line(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("base:\n  problem: gripper\n  checkpoint: x\ngrid:\n  distillation.linkag: [ward]\n")
    done = distill("batch", file, "--out", tmp_path / "runs")
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "line 5" in told
    assert "did you mean linkage" in told


def test_an_unreachable_scheduler_is_told(sweep, tmp_path):
    pytest.importorskip("distributed")
    done = distill("batch", sweep, "--out", tmp_path / "runs", "--executor", "dask://localhost:x")
    assert done.returncode == 2
    assert "must look like dask://HOST:PORT" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_an_interrupted_batch_ends_at_once_and_goes_on(tmp_path):
    """Ctrl-C: one sentence, no half-written run, and the same command goes on."""
    content = small_content(tmp_path)
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({"base": content, "seeds": 3}))
    command = [*DISTILL, "batch", str(file), "--out", str(tmp_path / "runs"), "--workers", "1"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    until(lambda: list((tmp_path / "runs").glob(".jobs/*.json")))
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=PATIENCE)
    assert child.returncode == 2
    assert "Interrupted; no file is incomplete" in told
    again = answer("batch", file, "--out", tmp_path / "runs")
    assert [job["state"] for job in again["jobs"]] == ["done"] * 3
