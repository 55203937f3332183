"""`distill conflicts --suite`, `--random-networks`, and `distill quotient --model`."""

import csv
import io
import re
from pathlib import Path

import pytest

from distill.planning import problem_class
from tests.support.commands import answer, distill
from tests.support.gripper import carry_all


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Gripper with one and with two balls, and a domain without a name in the paper."""
    folder = tmp_path / "suite"
    for name in ("gripper", "bags_and_rooms"):
        (folder / name).mkdir(parents=True)
        (folder / name / "domain.pddl").write_text(problem_class("gripper").domain.text)
        for n in (1, 2):
            (folder / name / f"p{n}.pddl").write_text(carry_all(n).text)
    return folder


def test_the_tables_have_published_figures_beside_ours(suite: Path) -> None:
    done = distill("conflicts", "--suite", suite, "--random-networks", 2, "--layers", 2)
    assert done.returncode == 0
    assert "GiB of memory" in done.stderr
    shown = re.sub(r" +", " ", done.stdout)
    assert "Satellite paper 5304 4226 0 0 1708 762 0 0" in shown
    assert "Gripper paper 5 1 K 90" in shown
    assert "gripper ours 2 36 18" in shown
    assert "Ferry paper 8430 265 31.81" in shown
    assert "gripper ours 36 18 2.00" in shown
    assert "2 untrained networks of 2 layers" in shown
    assert "bags_and_rooms 0 0 0 0 yes" in shown
    assert "0 of 2 analysed folders have the published figures." in shown
    assert "instances: 2, published 5" in shown
    assert "bags_and_rooms: the paper has no domain of this name." in shown
    assert "https://doi.org/10.5281/zenodo.13285981" in shown


def test_the_tables_in_other_forms(suite: Path) -> None:
    told = answer("conflicts", "--suite", suite, "--only", "gripper")
    assert len(told["domains"]) == 18
    [gripper] = [one for one in told["domains"] if one["domain"] == "Gripper"]
    assert gripper["published"]["classes"] == "90"
    assert gripper["ours"]["classes_summed_over_instances"] == 18
    assert gripper["folder"] == "gripper"
    assert gripper["differences"][0] == "instances: 2, published 5"
    lines = list(csv.DictReader(io.StringIO(distill("conflicts", "--suite", suite, "--csv").stdout)))
    assert len(lines) == 20
    [satellite] = [line for line in lines if line["domain"] == "Satellite"]
    assert (satellite["from"], satellite["1-WL set+G #E"], satellite["training states"]) == (
        "paper",
        "4372",
        "",
    )
    assert lines[-1]["domain"] == "bags_and_rooms"
    assert (lines[-1]["states"], lines[-1]["1-WL #V"], lines[-1]["training classes"]) == ("36", "0", "18")
    latex = distill("conflicts", "--suite", suite, "--latex").stdout
    assert r"bags\_and\_rooms & ours & 2 & 36 & 18 & 0" in latex
    for table in latex.split("\n\n"):
        rows = [line for line in table.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert len({line.count("&") for line in rows}) == 1


def test_a_broken_domain_is_named_in_one_sentence(suite: Path) -> None:
    (suite / "broken").mkdir()
    (suite / "broken" / "domain.pddl").write_text("(define (domain d) (:predicates (p ?x)")
    done = distill("conflicts", "--suite", suite)
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if "Failed" in line]
    assert line.startswith("Failed: broken: ")
    assert "broken/domain.pddl, line 1" in line
    assert re.search(r"gripper +ours", done.stdout)
    told = distill("conflicts", "--suite", suite, "--csv")
    assert told.returncode == 1
    assert len(told.stdout.splitlines()) == 21


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["gripper"], "--suite analyses whole folders"),
        (["--figure", "pair.png"], "--suite analyses whole folders"),
        (["--only", "nothing"], "No domain folder below"),
        (["--csv", "--json"], "Choose one of --json, --csv and --latex"),
        (["--random-networks", "101"], "--random-networks must be a whole number from 0 to 100"),
        (["--layers", "0"], "--layers must be a whole number from 1 to 1000"),
        (["--max-states", "-1"], "--max-states must be a whole number from 0"),
    ],
)
def test_bad_options_of_a_suite(suite: Path, more: list[str], reason: str) -> None:
    done = distill("conflicts", "--suite", suite, *more)
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


def test_tables_need_a_suite() -> None:
    assert "--csv and --latex print the tables of --suite" in distill("conflicts", "gripper", "--csv").stderr


def test_random_networks_of_one_problem(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(problem_class("blocks-clear").domain.text)
    (tmp_path / "p.pddl").write_text(problem_class("blocks-clear").make("train")[2].text)
    command = ["conflicts", "--domain", tmp_path / "domain.pddl", "--instances", tmp_path]
    told = answer(*command, "--random-networks", 2, "--layers", 1)["random_networks"]
    assert told["agree"]
    assert told["networks_E_V"] == told["1-WL_E_V"]
    assert told["networks_E_V"][0] > 0
    assert "random_networks" not in answer(*command)
    assert (
        "2 untrained networks of 1 layers" in distill(*command, "--random-networks", 2, "--layers", 1).stdout
    )


# The abstract state model


def test_the_model_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "gripper.pddl").write_text(problem_class("gripper").domain.text)
    (tmp_path / "three.pddl").write_text(carry_all(3).text)
    command = ["quotient", "--domain", tmp_path / "gripper.pddl", "--model", tmp_path / "three.pddl"]
    told = answer(*command, "--figure", tmp_path / "model.png")
    assert (told["states"], len(told["nodes"]), told["initial"]) == (88, 18, 0)
    assert {"source": 0, "target": 2, "schemas": ["pick"]} in told["transitions"]
    assert (tmp_path / "model.png").read_bytes().startswith(b"\x89PNG")
    shown = distill(*command).stdout
    assert "three.pddl: 88 states in 18 classes of isomorphic states" in shown
    assert "2 (pick)" in shown


def test_the_model_of_an_instance_of_a_problem() -> None:
    shown = distill("quotient", "gripper", "--model", "gripper-train-001").stdout
    assert "gripper-train-001: 256 states in 50 classes" in shown
    assert "the first 40 classes are shown, --json has all" in shown


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["gripper", "--model", "gripper-train-1"], "There is no instance gripper-train-1; did you mean"),
        (["gripper", "--figure", "model.png"], "give --model INSTANCE as well"),
        (["gripper", "--model", "gripper-train-001", "--sets"], "--model compares all atoms of states"),
        (["gripper", "--model", "gripper-train-001", "--figure", "model.txt"], "must end in one of"),
        (["--model", "p.pddl"], "Give a problem class, or --domain FILE"),
        (
            ["gripper", "--model", "gripper-train-001", "--max-states", "20"],
            "only some of its states are known, and the state model needs all",
        ),
    ],
)
def test_bad_models(arguments: list[str], reason: str) -> None:
    done = distill("quotient", *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
