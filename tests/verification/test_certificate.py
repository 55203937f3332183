"""Certificates, and the checker that shares no code with what writes them."""

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

import distill.checker
from distill.checker import CannotCheckError, CertificateError, recheck
from distill.checker.formulas import Interpretation
from distill.checker.instances import PlainInstance
from distill.checker.pddl import read_domain
from distill.logic import Evaluator, parse, to_json
from distill.planning import Domain, Instance, expand, problem_class
from distill.verification import Verifier, certificate_of, coverage, write_certificate
from tests.support.naive import numbers
from tests.support.pddl import HALL, LIGHTS, RIGHT, maze
from tests.support.strategies import batches

CHECKER = Path(distill.checker.__file__).parent


def certificate(name: str, most: int, value: str | None = None) -> dict:
    return certificate_of(
        Verifier(parse(value or RIGHT[name])).problem(problem_class(name), most), {"run": "r"}
    )


def changed(whole: dict, **entries) -> dict:
    """A certificate that says something else, with a checksum that fits."""
    rest = {**{key: value for key, value in whole.items() if key != "checksum"}, **entries}
    return {**rest, "checksum": hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()}


def rechecked(whole: dict, folder: Path, **options) -> dict:
    file = folder / "certificate.json.gz"
    write_certificate(whole, file)
    return recheck(file, **options)


@pytest.mark.parametrize(
    ("name", "most"),
    [("blocks-clear", 5), ("blocks-on", 4), ("gripper", 7), ("miconic", 5), ("visitall", 6)],
)
def test_the_checker_agrees(name, most, tmp_path):
    whole = certificate(name, most)
    found = rechecked(whole, tmp_path)
    assert (found["holds"], found["rechecked"]) == (True, len(whole["instances"]))
    assert found["states"] <= sum(entry["states"] for entry in whole["instances"])


def test_the_checker_agrees_that_a_function_is_wrong(tmp_path):
    whole = certificate("blocks-clear", 4, "2*#<on+>clear_G")
    assert whole["counterexample"]["broken"]
    assert not rechecked(whole, tmp_path)["holds"]
    assert "at most 1 objects" in whole["covered"]


def test_instances_can_be_chosen(tmp_path):
    whole = certificate("miconic", 5)
    assert rechecked(whole, tmp_path, max_objects=4)["rechecked"] == 2 + 6
    assert rechecked(whole, tmp_path, sample=5)["rechecked"] == 5
    with pytest.raises(CannotCheckError, match="more than 3 states"):
        rechecked(whole, tmp_path, max_states=3)


def lies() -> dict:
    """Certificates that say what is not so."""
    blocks, visits = certificate("blocks-clear", 4), certificate("visitall", 4)
    last = blocks["instances"][-1]
    several = blocks["instances"][:-1]
    other = certificate("visitall", 3, "#(visited_G & ~visited)")
    return {
        "checksum": {**blocks, "value": "0"},
        "text of the value function": changed(blocks, value="0"),
        "wrong is": changed(blocks, **function("2*#<on+>clear_G")),
        "max_v_star is": changed(blocks, **last_of(blocks, max_v_star=6)),
        "classes is": changed(blocks, **last_of(blocks, classes=last["classes"] + 1)),
        "states is": changed(blocks, **last_of(blocks, states=last["states"] + 1)),
        "dead_ends is": changed(blocks, **last_of(blocks, dead_ends=1)),
        "steps, not 0": changed(blocks, sizes=[*blocks["sizes"][:-1], {**blocks["sizes"][-1], "steps": 0}]),
        "sizes are not those of its inst": changed(blocks, instances=several),
        "totals for": changed(blocks, instances=[*several, {**last, "states": 1}]),
        "profile is": changed(blocks, instances=[*several, {**last, "profile": "0" * 32}]),
        "but some instances are wrong": changed(other, holds=True),
        "shows no wrong state": changed(other, counterexample=None),
        "covered does not say": changed(blocks, covered="All states."),
        "the properties are not": changed(blocks, properties={"value": "V > V*"}),
        "the counterexample differ": changed(other, counterexample={**other["counterexample"], "v_star": 9}),
        "atoms of visited matter": changed(visits, **function("#visited")),
        "covered": changed(blocks, aside=["clear"]),
    }


def function(text: str) -> dict:
    return {"value": text, "nodes": to_json(parse(text))}


def last_of(whole: dict, **entries) -> dict:
    """Other entries for the last instance, and for the totals, which are of several instances."""
    size, last = whole["sizes"][-1], whole["instances"][-1]
    assert size["scenes"] == 1
    return {
        "instances": [*whole["instances"][:-1], {**last, **entries}],
        "sizes": [*whole["sizes"][:-1], {**size, **entries}],
    }


def test_lies_are_rejected(tmp_path):
    for reason, whole in lies().items():
        with pytest.raises(CertificateError, match=reason):
            rechecked(whole, tmp_path)


@pytest.mark.parametrize("options", [{"sample": 0}, {"sample": -1}, {"max_objects": 0}, {"max_states": 0}])
def test_a_choice_without_instances_is_refused(options, tmp_path):
    with pytest.raises(CannotCheckError):
        rechecked(certificate("blocks-clear", 2), tmp_path, **options)


def test_what_was_not_rechecked_is_listed(tmp_path):
    whole = certificate("miconic", 4)
    assert {"holds", "instances", "sizes"} <= rechecked(whole, tmp_path, sample=1)["unchecked"].keys()
    assert set(rechecked(whole, tmp_path)["unchecked"]) == {
        *("version", "source", "scope", "complete", "sizes.instances", "symmetry")
    }


def test_the_instance_of_the_counterexample_is_always_rechecked(tmp_path):
    value = RIGHT["gripper"].replace("2*#<at^-1>", "3*#<at^-1>")
    whole = certificate_of(Verifier(parse(value)).problem(problem_class("gripper"), 6, go_on=True), {})
    assert rechecked(whole, tmp_path, sample=1)["rechecked"] in (1, 2)
    wrong = changed(whole, counterexample={**whole["counterexample"], "value": 7.0})
    for seed in range(4):
        with pytest.raises(CertificateError, match="value of the counterexample"):
            rechecked(wrong, tmp_path, sample=1, seed=seed)


def test_the_same_verification_gives_the_same_file(tmp_path):
    for name in ("a", "b"):
        write_certificate(certificate("blocks-on", 3), tmp_path / f"{name}.json.gz")
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_what_was_covered_is_told():
    done = Verifier(parse(RIGHT["visitall"])).problem(problem_class("visitall"), 3)
    told = coverage(done)
    assert "at most 3 objects" in told
    assert "Atoms of visited that the goal does not name were set aside" in told
    given_files = Verifier(parse("#(at & ~at_G)")).instances([maze("ab", "(at b)")])
    assert "1 given instances" in coverage(given_files)


@given(batches(min_objects=1, max_states=1), numbers)
def test_the_checker_reads_formulas_as_the_evaluator_does(batch, feature):
    atoms: dict[str, set] = {}
    for name, objects in batch.decode(0):
        atoms.setdefault(name, set()).add(tuple(map(str, objects)))
    names = [str(x) for x in range(batch.n_objects)]
    plain = Interpretation(to_json(feature), names, atoms).value()
    assert plain == pytest.approx(float(Evaluator(batch).number(feature)[0]))


def test_the_checker_reads_pddl_as_pymimir_does():
    for domain, text in [
        (LIGHTS, HALL),
        *((p.domain.text, p.make("train")[0].text) for p in map(problem_class, ("logistics", "gripper"))),
    ]:
        plain = PlainInstance(read_domain(domain), text)
        found = {plain.start}
        todo = [plain.start]
        while todo:
            for after in plain.successors(todo.pop()):
                if after not in found:
                    found.add(after)
                    todo.append(after)
        data = expand(Instance(Domain(domain), text, "p"), 10_000)
        assert len(found) == len(data)
        assert sum(map(plain.is_goal, found)) == (data.v_star == 0).sum()


def test_the_checker_can_be_copied_and_run_alone(tmp_path):
    shutil.copytree(CHECKER, tmp_path / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    write_certificate(certificate("blocks-on", 3), tmp_path / "c.json")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "checker", "c.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rechecked"] == 2


def test_the_checker_imports_nothing_but_the_standard_library():
    files = list(CHECKER.glob("*.py"))
    assert files
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= sys.stdlib_module_names
            if isinstance(node, ast.ImportFrom):
                assert node.level == 1 or node.module.split(".")[0] in sys.stdlib_module_names
