"""Damaged runs are told from good ones, and only runs of the store are removed."""

import json
import shutil
from pathlib import Path

import pytest

from distill.runs import Store
from tests.support.commands import distill
from tests.support.hostile import runs as hostile
from tests.support.samples import some_and_all


@some_and_all(10)
def test_damage_at_random_places(step, tmp_path) -> None:
    cases = list(hostile.cases(300, seed=0))[::step]
    found = []
    for number, case in enumerate(cases):
        place = tmp_path / str(number)
        place.mkdir()
        if reason := hostile.failure(case, place):
            found.append(f"{case.name}: {reason}")
        shutil.rmtree(place)
    assert len(cases) == 300 // step
    assert not found, "\n".join(found)


def test_an_undamaged_run_is_verified() -> None:
    assert hostile.agrees(hostile.original())


@pytest.fixture
def store(tmp_path) -> Path:
    for name in ("one-1", "two-2", "three-3"):
        shutil.copytree(hostile.original(), tmp_path / "runs" / name)
    return tmp_path / "runs"


@pytest.mark.parametrize(
    "name", ["metrics.json", "config.yaml", "inputs.json", "model.json", "states/test.npz"]
)
@pytest.mark.parametrize("content", [b"", b"[" * 100_000, None])
def test_a_damaged_run_does_not_hide_the_others(name, content, store) -> None:
    file = store / "two-2" / name
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    answer = json.loads(distill("runs", "list", "--store", store, "--json").stdout)
    read_later = content is not None and name in ("model.json", "states/test.npz")
    assert [one["run"] for one in answer["runs"]] == ["one-1", "three-3"] + ["two-2"] * read_later
    if not read_later:
        assert name in answer["damaged"]["two-2"]
        assert "two-2: damaged: " in distill("runs", "list", "--store", store).stdout
        assert name in Store(store).summaries()[1]["two-2"]
    shown = distill("runs", "show", "two", "--store", store)
    assert name == "states/test.npz" or (shown.returncode == 2 and name in "".join(shown.stderr.split()))
    assert distill("verify-run", "two", "--store", store).returncode in (1, 2)
    assert distill("runs", "rm", "two", "--yes", "--store", store).returncode == 0
    assert sorted(place.name for place in store.glob("t*")) == ["three-3"]


def test_only_runs_of_the_store_are_removed(store, tmp_path) -> None:
    outside = shutil.copytree(hostile.original(), tmp_path / "outside")
    (store / "link-4").symlink_to(outside)
    (store / "one-1" / "thesis.tex").write_text("mine")
    (store / "notes").mkdir()
    wrong = [
        "link-4",
        "one-1",
        "notes",
        outside,
        store,
        store / ".." / "outside",
        tmp_path / "none",
        "x" * 5_000,
    ]
    done = distill("runs", "rm", *wrong[:4], "two-2", *wrong[4:], "--yes", "--store", store)
    assert done.returncode == 2
    assert "removed two-2" in done.stdout
    told = "".join(done.stderr.split())
    assert all(
        name in told for name in ("link-4", "one-1", "thesis.tex", "norunnotes", "outside", "none", "xxx...")
    )
    assert sorted(one.name for one in store.iterdir()) == [".jobs", "link-4", "notes", "one-1", "three-3"]
    assert hostile.contents(outside) == hostile.contents(hostile.original())
