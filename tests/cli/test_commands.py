import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from distill.planning import problem_class
from distill.structures import DataSet
from tests.support.commands import DISTILL, PATIENCE, answer, children, distill, until

COMMANDS: list[list[str]] = [
    [],
    ["problems"],
    ["data"],
    ["plan"],
    ["conflicts"],
    ["quotient"],
    ["train"],
    ["evaluate"],
    ["replay"],
    ["probe"],
    ["checkpoint", "info"],
    ["run"],
    ["batch"],
    ["runs", "list"],
    ["export"],
    ["verify-run"],
    ["formula"],
    ["formula", "eval"],
    ["config"],
    ["config", "init"],
    ["config", "check"],
    ["config", "schema"],
]


def test_help_imports_nothing_heavy() -> None:
    code = f"""
import sys
from distill.cli import main
heavy = set("numpy pymimir pynauty yaml scipy matplotlib seaborn torch streamlit pandas".split())
for command in {COMMANDS!r}:
    sys.argv = ["distill", *command, "--help"]
    try:
        main()
    except SystemExit as done:
        assert not done.code
    assert not heavy & set(sys.modules), (command, heavy & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    usages = [
        line.split()[2:] for line in done.stdout.splitlines() if line.strip().startswith("Usage: distill")
    ]
    assert [usage[: len(command)] for usage, command in zip(usages, COMMANDS, strict=True)] == COMMANDS


def test_an_error_is_one_sentence_with_exit_code_two() -> None:
    done = subprocess.run([*DISTILL, "data", "chess"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: There is no problem class 'chess'")
    assert done.stderr.count("\n") == 1


def test_problems() -> None:
    listed = answer("problems")
    assert {"gripper", "miconic", "blocks-clear", "blocks-on", "visitall", "blocks", "logistics"} <= set(
        listed
    )
    assert listed["gripper"]["splits"]["test"]["objects"] == [22, 46]
    assert listed["gripper"]["splits"]["train"]["max_v_star"] == 5
    table = distill("problems").stdout
    assert all(name in table for name in listed)


def test_data_of_a_class(tmp_path: Path) -> None:
    told = answer(
        "data", "logistics", "--split", "train", "--out", tmp_path / "out", "--figure", tmp_path / "v.svg"
    )
    stored = DataSet.load(tmp_path / "out" / "train.npz")
    assert {key: told[key] for key in stored.summary()} == stored.summary()
    assert list(told["splits"]) == ["train"]
    assert (tmp_path / "v.svg").read_text().startswith("<?xml")
    assert stored.provenance["class"] == "logistics"


def test_data_of_files(files: tuple[Path, Path]) -> None:
    domain, folder = files
    told = answer("data", "--domain", domain, "--instances", folder, "--split-at", "4,5", "--reduce", "none")
    assert told["instances"] == told["solvable_instances"] == 4
    # Blocks states: 5, 22, 125 and 866 for two to five blocks.
    assert [told["splits"][name]["states"] for name in ("train", "validation", "test")] == [27, 125, 866]
    assert told["states"] == told["states_of_solvable_instances"] == 1018
    given = answer("data", "--domain", domain, "--train", folder, "--reduce", "none")
    assert given["states"] == 1018
    assert list(given["splits"]) == ["train"]
    table = distill("data", "--domain", domain, "--instances", folder).stdout
    assert "866" in table
    assert "max V*" in table


def test_data_never_writes_over_other_data(files: tuple[Path, Path], tmp_path: Path) -> None:
    domain, folder = files
    command = ["data", "--domain", domain, "--train", folder, "--out", tmp_path / "out"]
    assert distill(*command).returncode == 0
    before = (tmp_path / "out" / "train.npz").read_bytes()
    assert distill(*command).returncode == 0
    other = distill(*command, "--reduce", "none", "--max-states", "50")
    assert other.returncode == 2
    assert "holds other data" in other.stderr
    assert (tmp_path / "out" / "train.npz").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["data"], "Give a problem class, or --domain FILE"),
        (["data", "chess"], "There is no problem class 'chess'"),
        (["data", "gripper", "--domain", "{domain}"], "not both"),
        (["data", "gripper", "--split", "dev"], "There is no split 'dev'"),
        (["data", "gripper", "--reduce", "most"], "There is no reduction 'most'"),
        (["data", "gripper", "--workers", "0"], "--workers must be a whole number from 1 to 1024"),
        (["data", "gripper", "--walks", "-1"], "--walks must be a whole number from 0 to 1000000"),
        (["data", "--domain", "{domain}"], "Give a problem class, or --domain FILE"),
        (["data", "--domain", "none.pddl", "--instances", "{folder}"], "Cannot read none.pddl"),
        (["data", "--domain", "{domain}", "--instances", "none"], "There is no folder none"),
        (["data", "--domain", "{domain}", "--instances", "{empty}"], "holds no PDDL instances"),
        (["data", "--domain", "{other}", "--instances", "{folder}"], "blocks"),
        (["data", "--domain", "{domain}", "--instances", "{folder}", "--split-at", "x"], "two numbers"),
        (
            ["data", "--domain", "{domain}", "--instances", "{folder}", "--max-states", "30", "--walks", "0"],
            "has more than 30 states",
        ),
        (
            ["data", "--domain", "{domain}", "--instances", "{folder}", "--figure", "v.gif"],
            "must end in one of",
        ),
        (["data", "--domain", "{domain}", "--instances", "{folder}", "--out", "/dev/null/x"], "Cannot write"),
        (["conflicts"], "Give a problem class, or --domain FILE"),
        (["conflicts", "gripper", "--figure", "pair.gif"], "must end in one of"),
        (["conflicts", "gripper", "--workers", "0"], "--workers must be a whole number from 1 to 1024"),
        (["quotient", "gripper", "--depth", "-1"], "--depth must be a whole number from 0"),
        (["quotient", "--domain", "{domain}", "--instances", "{empty}"], "holds no PDDL instances"),
        (["plan"], "Give a problem class, or --domain FILE"),
        (["plan", "gripper", "--planner", "dijkstra"], "There is no planner 'dijkstra'"),
        (["plan", "gripper", "--number", "999"], "--number must be between 1 and"),
        (["plan", "--instance", "{folder}/x.pddl"], "--instance FILE needs --domain"),
        (["plan", "gripper", "--out", "plan.txt"], "--out takes one plan"),
    ],
)
def test_bad_input_gets_one_sentence(
    files: tuple[Path, Path], tmp_path: Path, arguments: list[str], told: str
) -> None:
    domain, folder = files
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.pddl").write_text(problem_class("gripper").domain.text)
    names = {
        "domain": domain,
        "folder": folder,
        "empty": tmp_path / "empty",
        "other": tmp_path / "other.pddl",
    }
    before = sorted(tmp_path.rglob("*"))
    done = distill(*(argument.format(**names) for argument in arguments), DISTILL_CACHE=str(tmp_path / "c"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert told in done.stderr
    left = [path for path in tmp_path.rglob("*") if "/c" not in str(path.relative_to(tmp_path.parent))]
    assert sorted(path for path in left if path not in before and not path.is_dir()) == []


def test_a_syntax_error_names_file_and_line(files: tuple[Path, Path]) -> None:
    domain, folder = files
    broken = next(folder.glob("*.pddl"))
    broken.write_text(broken.read_text().replace("(:goal", "(:gaol"))
    done = distill("data", "--domain", domain, "--instances", folder)
    assert done.returncode == 2
    assert f"{broken}, line 5" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture
def hasty(tmp_path: Path) -> Path:
    """A class whose instances no machine solves within the time limit."""
    (tmp_path / "blocks.pddl").write_text(problem_class("blocks").domain.text)
    (tmp_path / "hasty.yaml").write_text(
        "{name: hasty, title: No time, goal: towers, domain: blocks.pddl, generator: blocks, "
        "parameters: {goal: towers}, labelling: {max_states: 0, time_limit: 0.001}, "
        "splits: {train: {objects: [80, 80], instances: 2}}}"
    )
    return tmp_path / "hasty.yaml"


def test_what_cannot_be_labelled_is_reported(hasty: Path) -> None:
    told = answer("data", hasty)
    assert (told["instances"], told["states"], told["unlabelled_instances"]) == (2, 0, 2)
    assert "no state could be labelled within the limits" in distill("data", hasty).stdout


def test_nothing_to_look_at_is_an_error(hasty: Path) -> None:
    for command in ("conflicts", "quotient"):
        done = distill(command, hasty)
        assert done.returncode == 2
        assert done.stderr.startswith("Error: No state could be labelled")
        assert done.stderr.count("\n") == 1


SWAP = """(define (domain swap) (:requirements :strips) (:predicates (at ?c ?l) (car ?c) (place ?l))
(:action go :parameters (?c ?a ?b) :precondition (and (car ?c) (place ?a) (place ?b) (at ?c ?a))
 :effect (and (at ?c ?b) (not (at ?c ?a)))))"""
TASK = """(define (problem p) (:domain swap) (:objects c1 c2 l1 l2)
(:init (car c1) (car c2) (place l1) (place l2) (at c1 l1) (at c2 l1)) (:goal (and (at c1 l1) (at c2 l2))))"""


def test_conflicts(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(SWAP)
    (tmp_path / "p.pddl").write_text(TASK)
    command = ["conflicts", "--domain", tmp_path / "domain.pddl", "--instances", tmp_path]
    told = answer(*command, "--figure", tmp_path / "pair.png")
    assert told["states"] == 4
    assert told["classes_summed_over_instances"] == told["classes_across_solvable_instances"] == 3
    assert told["conflicts_E_V"]["1-WL"] == [1, 1]
    assert told["conflicts_E_V"]["2-FWL"] == told["conflicts_E_V"]["1-WL+G"] == [0, 0]
    assert (tmp_path / "pair.png").read_bytes().startswith(b"\x89PNG")
    shown = distill(*command).stdout
    assert "1-WL confuses two states" in shown
    assert "Pairs with at and at_G" in shown


def test_quotient(files: tuple[Path, Path]) -> None:
    domain, folder = files
    command = ["quotient", "--domain", domain, "--instances", folder]
    told = answer(*command)
    assert told["stable"]
    assert told["states"] == 1018
    assert told["rows"] == sorted(told["rows"])
    assert told["rows"][-1] == told["rows"][-2]
    shallow = answer(*command, "--depth", 1)
    assert shallow["rows"] == told["rows"][:2]
    finer = answer(*command, "--joint", "--goal-marking")
    assert finer["rows"][-1] >= told["rows"][-1]
    assert answer(*command, "--sets")["rows"][-1] <= told["rows"][-1]
    assert "stable" in distill(*command).stdout


def test_reduced_data(files: tuple[Path, Path]) -> None:
    domain, folder = files
    kept = {}
    for how in ("none", "exact", "iso", "wl"):
        told = answer("data", "--domain", domain, "--train", folder, "--reduce", how)
        assert told["states"] == 1018
        kept[how] = told["distinct_states"]
    assert kept["none"] == 1018
    assert kept["exact"] > kept["iso"] >= kept["wl"] > 10


@pytest.mark.slow
def test_an_interrupt_leaves_nothing_half_written(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*DISTILL, "data", "gripper", "--split", "test", "--workers", "2", "--out", str(tmp_path / "out")],
        env={**os.environ, "DISTILL_CACHE": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: children(process.pid))
    process.send_signal(signal.SIGTERM)
    told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, told
    assert "Interrupted" in told[1]
    assert not (tmp_path / "out").exists()
    for part in (tmp_path / "cache").rglob("*.npz"):
        DataSet.load(part)


def test_plan_of_one_instance(files: tuple[Path, Path], tmp_path: Path) -> None:
    domain, folder = files
    task = sorted(folder.glob("*.pddl"))[-1]
    told = answer("plan", "--domain", domain, "--instance", task, "--out", tmp_path / "plan")
    assert told["status"] == "solved"
    assert told["valid"] is True
    assert told["length"] == len(told["plan"])
    assert (tmp_path / "plan").read_text().splitlines()[:-1] == told["plan"]
    shown = distill("plan", "--domain", domain, "--instance", task).stdout
    assert all(action in shown for action in told["plan"])


def test_plan_gives_up_with_exit_code_1() -> None:
    done = distill("plan", "blocks", "--split", "test", "--number", 1, "--search-states", 10)
    assert done.returncode == 1
    assert "gave up" in done.stdout


def test_plan_compares_planners(files: tuple[Path, Path]) -> None:
    domain, folder = files
    told = answer(
        "plan", "--domain", domain, "--instances", folder, "--planner", "astar", "--planner", "policy-ff"
    )
    best, policy = told["planners"]
    assert best["solved"] == len(told["instances"]) == 4
    assert policy["common_length"] >= best["common_length"] > 0
    assert "coverage" in distill("plan", "--domain", domain, "--instances", folder).stdout
    assert "A* with h_max" in distill("plan", "--planner", "list").stdout


def test_version() -> None:
    from distill import __version__

    assert distill("--version").stdout == f"planning-distill {__version__}\n"
