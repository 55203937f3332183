"""Stages are kept, shared and mended; a run is the same however it came about."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from distill.cli.run import show
from distill.common import CODE_VERSIONS, InputError
from distill.jobs import RunConfig, Stages, do_job
from distill.logic import parse
from distill.runs import Run, Store, status_file, verify_run
from distill.structures import V_STAR, DataSet
from tests.support.small_jobs import contents, small_config, small_content

FORK = multiprocessing.get_context("fork")


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("source")


@pytest.fixture(scope="module")
def made(source, tmp_path_factory) -> tuple[Run, Path]:
    """A run, and the cache that has its stages."""
    folder = tmp_path_factory.mktemp("made")
    return do_job(small_config(source), folder / "runs", cache=folder / "cache"), folder / "cache"


def steps_of(run: Run) -> dict[str, bool]:
    return {step["stage"]: step["made"] for step in run.log}


def test_a_second_run_finds_all_stages_done_and_is_the_same(made, source, tmp_path) -> None:
    run, cache = made
    assert all(steps_of(run).values())
    again = do_job(small_config(source), tmp_path / "runs", cache=cache)
    assert steps_of(again) == {
        "data/train": False,
        "data/test": False,
        "evaluate": False,
        "regress": False,
        "replay/network": False,
        "export": True,
    }
    assert contents(again.folder.parent) == contents(run.folder.parent)


def test_without_a_cache_the_run_is_the_same(made, source, tmp_path) -> None:
    run, _ = made
    fresh = do_job(small_config(source), tmp_path / "runs", cache=tmp_path / "cache")
    assert all(steps_of(fresh).values())
    assert contents(fresh.folder.parent) == contents(run.folder.parent)


@pytest.mark.parametrize(
    ("settings", "redone"),
    [
        ({"max_features": 5}, {"regress", "evaluate"}),
        pytest.param({"target": "model"}, {"regress", "evaluate"}, marks=pytest.mark.slow),
        ({"inner_depth": 2}, {"distil", "regress", "evaluate"}),
        pytest.param({"pool": "ridt+polish"}, {"regress", "evaluate"}, marks=pytest.mark.slow),
        ({"seed": 1}, {"replay", "distil", "regress", "evaluate"}),
        ({"mode": "quotient", "regression": "squares"}, {"replay", "distil", "regress", "evaluate"}),
    ],
)
def test_a_setting_redoes_the_stages_that_look_at_it(made, source, tmp_path, settings, redone) -> None:
    _, cache = made
    other = do_job(small_config(source, **settings), tmp_path / "runs", cache=cache)
    assert {stage for stage, was_made in steps_of(other).items() if was_made} == {*redone, "export"}


def test_keys_depend_on_content_not_on_places(made, source, tmp_path) -> None:
    run, cache = made
    moved = tmp_path / "elsewhere"
    content = small_content(moved)
    (moved / "net.safetensors").write_bytes((source / "net.safetensors").read_bytes())
    config = RunConfig.from_mapping(content, Path(), lambda *keys: "a test")
    assert Stages(config, cache=cache).keys == Stages(small_config(source), cache=cache).keys
    assert run.inputs["stages"] == Stages(config, cache=cache).keys
    instance = next((moved / "instances").iterdir())
    instance.write_text(instance.read_text().replace("(:goal", " (:goal"))
    assert Stages(config, cache=cache).keys["data"] != run.inputs["stages"]["data"]


@pytest.mark.slow
def test_damaged_entries_are_found_and_made_again(made, source, tmp_path) -> None:
    """Whatever byte is changed in whatever entry: the run is the same."""
    run, _ = made
    cache = tmp_path / "cache"
    do_job(small_config(source), tmp_path / "first", cache=cache)
    shuffled = random.Random(5)
    stages = ["data", "replay", "distil", "regress", "evaluate"]
    for number in range(15):
        stage = stages[number % len(stages)]
        file = shuffled.choice(sorted((cache / stage).rglob("*.npz")))
        whole = file.read_bytes()
        place = shuffled.randrange(len(whole))
        changed = bytes([whole[place] ^ (1 << shuffled.randrange(8))]) + whole[place + 1 :]
        file.write_bytes(whole[:place] + (changed if number % 3 else b""))
        # Nobody would look at it if what comes after were there.
        for later in stages[stages.index(stage) + 1 :]:
            for entry in (cache / later).rglob("*.npz"):
                entry.unlink()
        do_job(small_config(source), tmp_path / f"{number}", cache=cache)
        assert contents(tmp_path / f"{number}") == contents(run.folder.parent), file


def test_the_metrics_contain_the_errors_of_the_network_itself(made) -> None:
    run, _ = made
    table = run.predictions()
    for split, mae in run.metrics["fidelity"]["network_errors"].items():
        mine = table[(table["split"] == split) & (table["v_star"] >= 0)]
        assert mae == pytest.approx((mine["network"] - mine["v_star"]).abs().mean(), rel=1e-6)
    assert set(run.metrics["fidelity"]["network_errors"]) == set(run.splits)


def test_a_raised_code_version_redoes_its_stage_and_those_after_it(
    made, source, tmp_path, monkeypatch, capsys
) -> None:
    run, cache = made
    assert run.outdated is None
    raised = CODE_VERSIONS["regress"] + 1
    monkeypatch.setitem(CODE_VERSIONS, "regress", raised)
    kept = do_job(small_config(source), run.folder.parent, cache=cache)
    assert kept.folder == run.folder
    assert "another version of the code (stage regress)" in str(kept.outdated)
    show(kept)
    assert "another version of the code" in capsys.readouterr().out.replace("\n", " ")
    again = do_job(small_config(source), tmp_path, cache=cache)
    assert {stage for stage, was_made in steps_of(again).items() if was_made} == {
        "regress",
        "evaluate",
        "export",
    }
    assert again.name == run.name
    assert again.outdated is None
    assert again.inputs["code"]["regress"] == raised


def test_a_damaged_entry_is_told_in_the_log(made, source, tmp_path) -> None:
    _, cache = made
    stages = Stages(small_config(source), cache=cache)
    entry = stages.file("evaluate", stages.keys["evaluate"])
    entry.write_bytes(entry.read_bytes()[:-30])
    run = do_job(small_config(source), tmp_path, cache=cache)
    assert [step["stage"] for step in run.log if step["damaged"]] == ["evaluate"]


@pytest.mark.slow
def test_a_network_is_trained_where_there_is_no_checkpoint(source, tmp_path) -> None:
    content = small_content(source)
    del content["checkpoint"]
    content |= {
        "validation": content["train"],
        "network": {"layers": 2, "size": 4},
        "training": {"epochs": 2, "batches": 2, "batch_size": 8, "validation_states": 20},
    }
    config = RunConfig.from_mapping(content, Path(), lambda *keys: "a test")
    one, other = (do_job(config, tmp_path / name, cache=tmp_path / name / "cache") for name in ("a", "b"))
    assert one.name.startswith("blocks-trained-")
    assert steps_of(one)["train"]
    assert contents(one.folder) == contents(other.folder)
    third = do_job(config.with_settings({"max_features": 3}), tmp_path / "a", cache=tmp_path / "a/cache")
    assert not steps_of(third)["train"]
    del content["validation"]
    lacking = RunConfig.from_mapping(content, Path(), lambda *keys: "a test")
    with pytest.raises(InputError, match="no instances for validation"):
        do_job(lacking, tmp_path / "c", cache=tmp_path / "c/cache")


@pytest.mark.slow
def test_jobs_killed_at_random_moments_end_as_if_they_never_were(made, source, tmp_path) -> None:
    run, _ = made
    store, cache = tmp_path / "runs", tmp_path / "cache"

    touched = FORK.Value("i", 0)

    def work(last: int) -> None:
        """Do the job, but die when files are touched for the last time."""

        def count(event: str, _: object) -> None:
            if event in ("open", "os.mkdir", "os.rename", "os.remove"):
                touched.value += 1
                if touched.value == last:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        do_job(small_config(source), store, cache=cache)

    def ends(last: int) -> bool:
        touched.value = 0
        child = FORK.Process(target=work, args=(last,))
        child.start()
        child.join()
        return child.exitcode == 0

    assert ends(0)
    whole = touched.value
    shuffled = random.Random(11)
    kills = 0
    for number in range(60):
        if any(Store(store).runs()):  # a round that came to its end: the next begins from nothing
            shutil.rmtree(store)
            shutil.rmtree(cache)
        # the first rounds die early, later ones come further
        kills += not ends(1 + int(whole * shuffled.random() * min(1, (number + 1) / 8)))
        for found in Store(store).runs():
            assert contents(found.folder) == contents(run.folder)
        if kills == 9:
            break
    assert kills == 9
    final = do_job(small_config(source), store, cache=cache)
    assert contents(store) == contents(run.folder.parent)
    assert all(check.agrees for check in verify_run(final))
    assert not list(store.glob(".part-*")), "what killed jobs left is cleared away"


@pytest.mark.slow
def test_two_processes_make_one_run(made, source, tmp_path) -> None:
    run, _ = made
    store, cache = tmp_path / "runs", tmp_path / "cache"
    children = [
        FORK.Process(target=do_job, args=(small_config(source), store), kwargs={"cache": cache})
        for _ in range(3)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert contents(store) == contents(run.folder.parent)
    [only] = Store(store).runs()
    assert all(steps_of(only).values()), "one of them did all the work"


def test_what_fails_is_written_down_and_forgotten_when_mended(source, tmp_path) -> None:
    config = small_config(source, regression="squares")  # readable mode has no such regression
    with pytest.raises(InputError, match="no regression squares"):
        do_job(config, tmp_path, cache=tmp_path / "cache")
    [(name, status)] = Store(tmp_path).jobs().items()
    assert status.state == "failed"
    assert "no regression squares" in status.error
    assert not list(Store(tmp_path).runs())
    assert status_file(tmp_path, name).exists()


def test_a_folder_that_cannot_be_written_is_told(source, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Cannot write"):
        do_job(small_config(source), tmp_path / "file" / "runs", cache=tmp_path / "cache")


def test_a_full_disk_is_told_and_nothing_is_left(source, tmp_path) -> None:
    """Files may not grow beyond a few kilobytes, as on a disk that is full."""

    def limited() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            do_job(small_config(source), tmp_path / "runs", cache=tmp_path / "cache")
        except InputError as error:
            (tmp_path / "told").write_text(str(error))

    child = FORK.Process(target=limited)
    child.start()
    child.join()
    assert "File too large" in (tmp_path / "told").read_text()
    assert not list(Store(tmp_path / "runs").runs())
    after = do_job(small_config(source), tmp_path / "runs", cache=tmp_path / "cache")
    assert all(check.agrees for check in verify_run(after))


def test_a_run_holds_what_it_says(made) -> None:
    run, _ = made
    names = {file.relative_to(run.folder).as_posix() for file in run.folder.rglob("*") if file.is_file()}
    assert names - {"inputs.json", "log.jsonl"} == set(run.inputs["files"])
    assert {"states/train.npz", "predictions.parquet", "report.html", "trees.json", "embeddings.npz"} < names
    table = run.predictions()
    data = run.states("train")
    mine = table[table["split"] == "train"]
    assert mine["v_star"].to_list() == data.v_star.tolist()
    values = run.value_function.values(data.structures())
    assert np.array_equal(mine["value"].to_numpy(), values)
    solvable = data.v_star >= 0
    error = np.abs(values - data.v_star)[solvable].mean()
    assert run.metrics["splits"]["train"]["mae"] == pytest.approx(error)
    trees = json.loads((run.folder / "trees.json").read_text())["trees"]
    assert len(trees) == len(run.trees) == 2 * 2 + 2  # two layers and the final one, two trees each
    for row, grown in zip(trees, run.trees, strict=True):
        leaves = len(grown.tree.leaves)
        assert set(row["dendrograms"]) == {"ward", "average", "complete", "single"}
        assert all(len(one["merges"]) == leaves - 1 for one in row["dendrograms"].values())
        assert set(grown.formulas) == set(grown.tree.used.tolist())
    for layer, feature in ((f.provenance.layer, f) for f in run.value_function.pool):
        assert layer in {-1, 0, 1, 2}, feature
    drawn = run.embeddings
    assert drawn.points["train"].shape == (3, data.structures(drawn.drawn["train"]).n_objects, 2)


def test_a_changed_run_is_found_out(made, tmp_path) -> None:
    run, _ = made
    copies = []
    for number in range(4):
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        for file in run.folder.rglob("*"):
            if file.is_file():
                place = copy / file.relative_to(run.folder)
                place.parent.mkdir(exist_ok=True)
                place.write_bytes(file.read_bytes())
        copies.append(copy)
    assert all(check.agrees for check in verify_run(Run.load(copies[0])))
    (copies[0] / "value.txt").write_text("V = 0")
    assert [check.what for check in verify_run(Run.load(copies[0])) if not check.agrees] == ["file value.txt"]

    def signed(folder: Path, *names: str) -> Run:
        """As if somebody had also changed the checksums."""
        from distill.runs import checksum

        inputs = json.loads((folder / "inputs.json").read_text())
        inputs["files"] |= {name: checksum(folder / name) for name in names}
        (folder / "inputs.json").write_text(json.dumps(inputs))
        return Run.load(folder)

    other = replace(run.value_function, value=parse("2*#clear"))
    other.save(copies[1] / "model.json")
    wrong = {check.what for check in verify_run(signed(copies[1], "model.json")) if not check.agrees}
    assert {"predictions of train: largest difference", "splits.train.mae", "formula_size"} <= wrong
    metrics = json.loads((copies[2] / "metrics.json").read_text())
    metrics["splits"]["test"]["mae"] += 0.001
    metrics["splits"]["train"]["solved"] -= 1
    (copies[2] / "metrics.json").write_text(json.dumps(metrics))
    wrong = {check.what for check in verify_run(signed(copies[2], "metrics.json")) if not check.agrees}
    assert wrong == {"splits.test.mae", "splits.train.solved"}
    fast = verify_run(Run.load(copies[2]), execute=False)
    assert {check.what for check in fast if not check.agrees} == {"splits.test.mae"}
    data = DataSet.load(copies[3] / "states/train.npz")
    replace(data, labels={V_STAR: data.v_star + 1}).save(copies[3] / "states/train.npz")
    wrong = {check.what for check in verify_run(signed(copies[3], "states/train.npz")) if not check.agrees}
    assert "splits.train.mae" in wrong


def test_progress_is_told_stage_by_stage(source, tmp_path) -> None:
    told: list[str] = []
    do_job(
        small_config(source),
        tmp_path / "runs",
        cache=tmp_path / "cache",
        progress=lambda stage, done, total: told.append(stage.partition(":")[0].partition("/")[0]),
    )
    order = list(dict.fromkeys(told))
    expected = ["data", "replay", "distil", "regress", "evaluate", "export"]
    assert [stage for stage in order if stage in expected] == expected


def test_status_is_there_while_a_job_runs(source, tmp_path) -> None:
    seen = []

    def look(stage: str, done: int, total: int) -> None:
        seen.extend(status.stage for status in Store(tmp_path / "runs").jobs().values())

    do_job(small_config(source), tmp_path / "runs", cache=tmp_path / "cache", progress=look)
    assert "export" in seen
    assert not Store(tmp_path / "runs").jobs()
