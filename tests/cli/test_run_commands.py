"""`distill run`, as a user runs it."""

import json
import re
from pathlib import Path

import pytest

from distill.common import STAGES
from distill.explanations import ValueFunction
from distill.logic import parse
from distill.planning import problem_class
from tests.support.bare_run import bare_run
from tests.support.commands import answer, distill

ROOT = Path(__file__).parents[2]
QUICK = ("--set", "inner_width=2", "--set", "final_width=2", "--max-steps", "20")


def folders(out: Path) -> list[Path]:
    """The runs in a folder."""
    return [place for place in out.iterdir() if not place.name.startswith(".")]


@pytest.mark.slow
def test_a_run_from_a_network_to_its_folder(tmp_path, files, network):
    domain, folder = files
    source = "--domain", domain, "--train", folder, "--test", folder
    out = tmp_path / "runs"
    told = answer("run", "--checkpoint", network, *source, "--out", out, *QUICK)
    assert set(told["splits"]) == {"train", "test"}
    assert told["splits"]["train"]["states"] == told["splits"]["test"]["states"] > 0
    assert told["splits"]["train"]["max_error"] >= told["splits"]["train"]["mae"]
    assert 0 <= told["fidelity"]["greedy_agreement"] <= 1
    assert told["pool"] == "ridt"
    assert told["features"] <= told["pool_size"]
    assert "export" in told["seconds"]
    assert set(told["seconds"]) <= set(STAGES)
    [made] = folders(out)
    kept = {file.name for file in made.iterdir()}
    documented = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/distillation.md").read_text(), re.MULTILINE)
    named = {name for row in documented for name in re.findall(r"`([\w.]+)`", row) if "." in name}
    assert named <= kept
    assert json.loads((made / "metrics.json").read_text())["fit"] == told["fit"]
    before = (made / "metrics.json").stat().st_mtime_ns
    again = answer("run", "--checkpoint", network, *source, "--out", out, *QUICK)
    assert again == told
    assert (made / "metrics.json").stat().st_mtime_ns == before
    same = answer("run", made / "config.yaml", "--out", out, "--max-steps", "20")
    assert same["run"] == told["run"]
    scores = answer("evaluate", made, *source, "--max-steps", "0")
    assert scores["splits"]["train"]["mae"] == pytest.approx(told["splits"]["train"]["mae"])
    other = distill("run", "--checkpoint", network, *source, "--out", out, *QUICK, "--set", "seed=3")
    assert other.returncode == 0
    assert "Against V*" in other.stdout
    assert "\nV = " in other.stdout
    assert "pool ridt" in other.stdout
    assert "on all training states" in other.stdout
    assert len(folders(out)) == 2


@pytest.mark.slow
def test_pools_and_controls_are_told(tmp_path, files, network):
    domain, folder = files
    source = "--domain", domain, "--train", folder, "--out", tmp_path / "runs", "--max-steps", "0"
    told = answer("run", *source, "--pool", "enumerate")
    assert told["pool"] == "enumerate"
    assert told["fidelity"] == {}
    assert told["fit"]["exact"]
    assert "V = " in told["value"]
    shown = distill("run", *source, "--pool", "enumerate", "--english")
    assert "Exact on all training states" in shown.stdout
    assert "the number of objects that" in shown.stdout
    control = distill("run", "--checkpoint", network, *source, "--control", "permuted", *QUICK)
    assert control.returncode == 0, control.stderr
    assert "pool ridt, permuted" in control.stdout
    mode = answer("run", "--checkpoint", network, *source, *QUICK, "--set", "mode=thesis")
    assert mode["fit"].keys() == {"exact"}


RINGS = """(define (domain rings)
  (:requirements :strips)
  (:predicates (next ?a ?b) (ready) (done))
  (:action triangle :parameters (?a ?b ?c)
    :precondition (and (next ?a ?b) (next ?b ?c) (next ?c ?a)) :effect (done))
  (:action wait :parameters () :precondition (and) :effect (ready))
  (:action finish :parameters () :precondition (ready) :effect (done)))
"""


@pytest.mark.slow
def test_states_that_look_the_same_with_different_labels_are_shown(tmp_path):
    """No formula tells one ring of six from two of three, but only with these one step is enough."""
    domain, folder = tmp_path / "rings.pddl", tmp_path / "instances"
    domain.write_text(RINGS)
    folder.mkdir()
    names = [f"r{number}" for number in range(6)]
    for number, rings in enumerate(([names], [names[:3], names[3:]])):
        links = [f"(next {a} {b})" for ring in rings for a, b in zip(ring, ring[1:] + ring[:1], strict=True)]
        (folder / f"rings{number}.pddl").write_text(
            f"(define (problem rings{number}) (:domain rings) (:objects {' '.join(names)}) "
            f"(:init {' '.join(links)}) (:goal (done)))"
        )
    source = "--domain", domain, "--train", folder, "--out", tmp_path / "runs", "--max-steps", "0"
    told = answer("run", *source, "--pool", "enumerate", "--set", "time_limit=1")
    assert not told["fit"]["exact"]
    assert {state["v_star"] for state in told["fit"]["conflict"]} == {1, 2}
    shown = distill("run", *source, "--pool", "enumerate", "--set", "time_limit=1")
    assert "distinguishes two states with different V" in shown.stdout
    assert "V* = 1: next(o" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Give a config, or --checkpoint FILE"),
        (("--problem", "gripper"), "must name a checkpoint, or a network to train"),
        (("--checkpoint", "no.safetensors", "--problem", "chess"), "There is no problem class 'chess'"),
        (("--checkpoint", "x", "--problem", "gripper", "--set", "sed=1"), "did you mean seed?"),
        (("--checkpoint", "x", "--problem", "gripper", "--set", "seed"), "must look like KEY=VALUE"),
        (("no.yaml",), "no.yaml"),
        (("--checkpoint", "x", "--problem", "gripper", "--domain", "d.pddl"), "either a problem or a domain"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments, told):
    done = distill("run", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    done = distill("evaluate", tmp_path, "gripper")
    assert done.returncode == 2
    assert "is no run" in done.stderr


SMALL_CLASS = """
name: towers
title: Small towers
goal: clear(x)
domain: blocks.pddl
generator: blocks
parameters: {goal: clear}
splits:
  train: {objects: [3, 4], instances: 4}
"""
BEYOND = """
beyond:
  objects: [12, 12]
  instances: 2
  labels: blocks-clear-closure
  labelling: {walks: 2, walk_length: 10}
"""


@pytest.fixture
def run_of_towers(tmp_path: Path) -> Path:
    """A run whose value function is exact but for held blocks, of a class of our own."""
    (tmp_path / "blocks.pddl").write_text(problem_class("blocks-clear").domain.text)
    (tmp_path / "towers.yaml").write_text(SMALL_CLASS + BEYOND)
    folder = bare_run(tmp_path / "run", f"problem: {tmp_path / 'towers.yaml'}\n")
    ValueFunction(parse("2*#<on+>clear_G - #<on>clear_G"), ()).save(folder / "model.json")
    return folder


def test_a_run_is_measured_beyond_all_splits(run_of_towers, network, tmp_path):
    told = answer("evaluate", run_of_towers, "--beyond", "--figure", tmp_path / "boxes.svg")
    assert told["class"] == "towers"
    assert (told["min_objects"], told["max_objects"], told["instances"]) == (12, 12, 2)
    assert told["labelled_by"] == "@blocks-clear-closure"
    assert told["validated_states"] > 100
    assert told["executed"] == 0
    assert 0 < told["mae"] < told["max_error"] == 1
    assert told["max_v"] == max(row["v_star"] for row in told["by_v"])
    assert (tmp_path / "boxes.svg").stat().st_size > 1000
    shown = distill("evaluate", run_of_towers, "--beyond", "--max-steps", 50)
    assert shown.returncode == 0, shown.stderr
    sentence = f"@blocks-clear-closure, validated on {told['validated_states']} states"
    assert f"labelled by the hand-made function {sentence}" in " ".join(shown.stdout.split())
    assert "2/2" in shown.stdout
    of_network = answer("evaluate", network, tmp_path / "towers.yaml", "--beyond")
    assert of_network["states"] == told["states"]
    assert of_network["mae"] > told["mae"]


def test_what_cannot_be_measured_beyond_is_told(run_of_towers, network, tmp_path):
    (tmp_path / "towers.yaml").write_text(SMALL_CLASS)
    for arguments, told in (
        ((run_of_towers,), "towers declares no instances beyond its splits"),
        ((network,), "--beyond needs a problem class"),
        ((run_of_towers, "--domain", tmp_path / "blocks.pddl"), "towers declares no instances beyond"),
    ):
        done = distill("evaluate", *arguments, "--beyond")
        assert done.returncode == 2
        assert told in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
