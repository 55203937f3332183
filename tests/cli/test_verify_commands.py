"""`distill verify` and `distill recheck`, as a user runs them."""

import json
import shutil
from pathlib import Path

import pytest

from distill.planning import problem_class
from tests.support.commands import distill
from tests.support.paths import DEMO

DOMAIN = problem_class("gripper").domain_file


@pytest.fixture
def forged(tmp_path) -> Path:
    """The demo with one weight changed."""
    folder = tmp_path / "store" / DEMO.name
    shutil.copytree(DEMO, folder)
    whole = json.loads((folder / "model.json").read_text())
    [row] = [row for row in whole["nodes"] if row[:2] == ["scaled", -5]]
    row[1] = -4
    (folder / "model.json").write_text(json.dumps(whole))
    return folder


def test_a_right_run_and_its_certificate(tmp_path):
    file = tmp_path / "proof.json.gz"
    done = distill("verify", DEMO, "--max-objects", 7, "--certificate", file, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["holds"], told["states"], told["classes"]) == (True, 232, 98)
    assert told["wrong"] == {"value": 0, "greedy": 0, "goal": 0}
    assert [size["scenes"] for size in told["sizes"]] == [1, 2, 3]
    checked = distill("recheck", file, "--json")
    answer = json.loads(checked.stdout)
    assert set(answer.pop("unchecked")) == {"version", "source", "scope", "complete", "sizes.instances"}
    assert answer == {
        "agrees": True,
        "value": told["value"],
        "holds": True,
        "instances": 6,
        "rechecked": 6,
        "states": 232,
    }
    text = distill("recheck", file).stdout
    assert told["value"] in text
    assert "Not checked:" in text
    shown = distill("verify", DEMO, "--max-objects", 6).stdout
    assert "is right in all 51 states" in " ".join(shown.split())


def test_a_wrong_run(forged, tmp_path):
    files = {"--figure": tmp_path / "c.svg", "--pddl": tmp_path / "c.pddl"}
    options = [part for pair in files.items() for part in pair]
    done = distill("verify", forged, "--max-objects", 6, *options)
    assert done.returncode == 1, done.stderr
    told = " ".join(done.stdout.split())
    assert "The smallest counterexample has 5 objects: V = 1, V* = 0" in told
    assert "goal: (at ball1 room1)" in told
    assert "<at & at_G>room" in told
    assert all(file.exists() for file in files.values())
    example = json.loads(distill("verify", forged, "--max-objects", 6, "--json").stdout)["counterexample"]
    assert example["broken"] == ["value", "goal"]
    assert sum(term["here"] for term in example["terms"]) == 1
    again = distill("verify", forged, "--domain", DOMAIN, "--instances", tmp_path / "c.pddl", "--json")
    assert again.returncode == 1
    assert json.loads(again.stdout)["counterexample"]["v_star"] == 0


def test_instances_of_your_own(tmp_path):
    for instance in problem_class("gripper").make("train")[:2]:
        (tmp_path / f"{instance.name}.pddl").write_text(instance.text)
    done = distill("verify", DEMO, "--domain", DOMAIN, "--instances", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["states"] == 256 + 1215


def test_greedy_plans_in_large_instances(tmp_path):
    for instance in problem_class("gripper").make("test")[:2]:
        (tmp_path / f"{instance.name}.pddl").write_text(instance.text)
    done = distill(
        "verify", DEMO, "--beyond", "--domain", DOMAIN, "--instances", tmp_path, "--time-limit", 0, "--json"
    )
    assert done.returncode == 0, done.stderr
    for row in json.loads(done.stdout)["plans"]:
        assert row["validated"]
        assert row["length"] == row["promised"]
        assert row["optimal"] is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "Give --max-objects N"),
        (["--max-objects", 4], "No instance has so few objects"),
        (["--max-objects", 6, "--domain", DOMAIN], "need each other"),
        (["--max-objects", 6, "--problem", "logistics"], "cannot be listed"),
        (["--max-objects", 6, "--figure", "c.txt"], "txt"),
    ],
)
def test_what_cannot_be_verified_is_told(options, reason):
    done = distill("verify", DEMO, *options)
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.split())


def test_what_is_no_certificate_is_told(tmp_path):
    (tmp_path / "c.json").write_text("{}")
    done = distill("recheck", tmp_path / "c.json")
    assert done.returncode == 2
    assert "is no certificate" in " ".join(done.stderr.split())
    assert distill("recheck", tmp_path / "none.json").returncode == 2
