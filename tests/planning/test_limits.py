import itertools
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from distill.common import InputError
from distill.planning import (
    Domain,
    Instance,
    InstanceFamilies,
    Limits,
    data_key,
    planners,
    preparation,
    prepare,
    problem_class,
    supervision,
)
from distill.planning.grounding_size import grounding_size, refuse_large_grounding
from tests.support.commands import DISTILL, distill, until
from tests.support.hard_pddl import deep, wide, write
from tests.support.processes import children, is_alive, seconds_used

SLOW = 8, 12
"""Parameters and objects: below the bound of ground actions, and far beyond any time and memory of a test."""


def read(files: tuple[Path, Path]) -> Instance:
    return Instance.read(Domain.read(files[0]), files[1])


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def labelling_command(files: tuple[Path, Path], *options: object) -> list[object]:
    return ["data", "--domain", files[0], "--instances", files[0].parent, *options]


def segfault(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


# Sizes of grounding


def applicable_somewhere(instance: Instance) -> dict[str, int]:
    """The number of tuples of objects that satisfy types and static preconditions, by trying all tuples."""
    held = set(instance.facts)
    numbers = {}
    for schema in InstanceFamilies(instance.domain).schemas:
        condition = schema.condition
        numbers[f"the action {schema.name}"] = sum(
            all(
                ((one.name, tuple(binding.get(term, term) for term in one.terms)) in held) == one.holds
                for one in condition.static
                if one.name != "="
            )
            for objects in itertools.product(instance.objects, repeat=len(condition.variables))
            for binding in [dict(zip(condition.variables, objects, strict=True))]
        )
    return numbers


@pytest.mark.parametrize("name", ["blocks-clear", "gripper", "logistics", "miconic", "visitall"])
def test_the_size_of_grounding_is_never_underestimated(name: str) -> None:
    for instance in problem_class(name).make("train")[:5]:
        bound = grounding_size(instance)
        true = applicable_somewhere(instance)
        assert sum(true.values()) > 0
        assert {schema: bound[schema] for schema in true if bound[schema] < true[schema]} == {}
        assert max(bound.values()) <= len(instance.objects) ** 4


def test_static_preconditions_reduce_the_size(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        "(define (domain d) (:requirements :strips) (:predicates (p ?x) (next ?x ?y))\n (:action a "
        ":parameters (?x ?y ?z) :precondition (and (next ?x ?y) (next ?y ?z) (p ?x)) :effect (p ?z)))",
        "(define (problem e) (:domain d) (:objects a b c d) (:init (next a b) (next b c) (next b d) (p a))\n"
        " (:goal (p d)))",
    )
    # Three pairs, and each is extended by at most two of them; without the facts there are 4**3.
    assert grounding_size(read(files)) == {"the action a": 6, "the predicate p": 4}


def test_classes_of_large_instances_are_far_below_the_bound() -> None:
    for name in ("blocks-clear", "gripper"):
        largest = max(problem_class(name).split("beyond").instances, key=lambda one: len(one.objects))
        refuse_large_grounding(largest, 100_000)


def test_a_huge_grounding_is_refused_with_its_number(tmp_path: Path) -> None:
    files = wide(tmp_path, 12, 8)
    told = one_sentence(distill(*labelling_command(files, "--time-limit", 2)))
    assert f"{8**12:,} ground instances, and at most 1,000,000,000 are accepted" in told
    assert str(files[1]) in told
    told = one_sentence(distill("plan", "--domain", files[0], "--instance", files[1]))
    assert f"{8**12:,}" in told
    with pytest.raises(InputError, match="ground instances"):
        _ = read(files).initial_state
    listed = read(wide(tmp_path / "listed", 8, 8))
    with pytest.raises(InputError, match="at most 10,000,000 are accepted"):
        InstanceFamilies(listed.domain).of_instance(listed)


# Time and memory


@pytest.mark.slow
def test_the_time_limit_holds_inside_the_library(tmp_path: Path) -> None:
    files, before = wide(tmp_path, *SLOW), children(os.getpid())
    told = one_sentence(distill(*labelling_command(files, "--time-limit", 0.1)))
    assert f"{files[1]}: labelling it does not end within the time limit of 0.1 s; raise the limit" in told
    assert len(children(os.getpid()) - before) == 0


def test_the_memory_limit_holds_inside_the_library(tmp_path: Path) -> None:
    files, before = wide(tmp_path, *SLOW), children(os.getpid())
    told = one_sentence(distill(*labelling_command(files, "--memory-limit", 0.2)))
    assert f"{files[1]}: labelling it takes more memory than 0.2 GB; raise the memory limit" in told
    assert len(children(os.getpid()) - before) == 0


def test_a_planner_beyond_a_limit_gives_up(tmp_path: Path) -> None:
    files = wide(tmp_path, *SLOW)
    command = ["plan", "--domain", files[0], "--instance", files[1], "--memory-limit", 0.2]
    done = distill(*command)
    assert (done.returncode, done.stderr) == (1, "")
    assert "gave up" in done.stdout
    assert "more memory than 0.2 GB" in done.stdout


def test_limits_do_not_change_results_or_their_place(tmp_path: Path) -> None:
    split = problem_class("blocks-clear").split("train")
    split = replace(split, instances=split.instances[:3])
    bounded = replace(split, labelling=split.labelling.replace(memory_limit=4.0))
    assert data_key(split, "exact") == data_key(bounded, "exact")
    files = [prepare(one, cache=tmp_path / str(n))[1] for n, one in enumerate((split, bounded))]
    assert files[0].name == files[1].name
    assert files[0].read_bytes() == files[1].read_bytes()
    assert "memory_limit" not in str(prepare(split, cache=tmp_path / "0")[0].provenance)


@pytest.mark.slow
def test_many_objects_end_with_a_sentence_or_a_result(tmp_path: Path) -> None:
    told = one_sentence(distill(*labelling_command(wide(tmp_path, 2, 60_000), "--time-limit", 1)))
    assert "with 60000 objects" in told or "does not end within the time limit" in told


# Crashes of the library


def test_a_crash_of_the_parser_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = wide(tmp_path, 2, 2)
    monkeypatch.setattr(supervision, "_PARSED", set())
    monkeypatch.setattr(supervision, "parse", segfault)
    for command in (
        labelling_command(files),
        ["plan", "--domain", files[0], "--instance", files[1]],
        ["quotient", "--domain", files[0], "--instances", tmp_path],
    ):
        told = one_sentence(distill(*command))
        assert f"{files[0]}: the PDDL library crashed while parsing it; simplify the PDDL" in told


def test_a_real_crash_is_one_sentence(tmp_path: Path) -> None:
    files = deep(tmp_path, 200_000)
    assert str(files[0]) in one_sentence(distill(*labelling_command(files)))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crash_while_labelling_is_one_sentence(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = wide(tmp_path, 2, 2)
    (tmp_path / "two.pddl").write_text(files[1].read_text())
    monkeypatch.setattr(preparation, "_timed", segfault)
    monkeypatch.setenv("DISTILL_CACHE", str(tmp_path / "cache"))
    told = one_sentence(distill(*labelling_command(files, "--workers", workers)))
    assert ".pddl: the PDDL library crashed while labelling it" in told


def test_a_planner_that_crashes_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = wide(tmp_path, 2, 2)
    monkeypatch.setattr(planners, "find_plan", segfault)
    with pytest.raises(InputError, match="the PDDL library crashed while planning for it"):
        planners._supervised_plan("astar", read(files), Limits())


def test_a_folder_is_parsed_by_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = wide(tmp_path, 1, 3)
    domain = Domain.read(files[0])
    before = children(os.getpid())
    for number in range(5):
        (tmp_path / f"{number}.pddl").write_text(
            files[1].read_text().replace("problem w", f"problem w{number}")
        )
        Instance.read(domain, tmp_path / f"{number}.pddl")
    assert children(os.getpid()) == before
    monkeypatch.setattr(supervision, "carry_out", None)
    again = Instance.read(domain, tmp_path / "0.pddl")
    assert again.objects == ("o0", "o1", "o2"), "the same content is not tried again"


# Interrupts


@pytest.mark.slow
def test_a_command_that_grounds_ends_at_once(tmp_path: Path) -> None:
    files = wide(tmp_path, *SLOW)
    command = labelling_command(files, "--time-limit", 600, "--memory-limit", 4)
    process = subprocess.Popen(
        [*DISTILL, *map(str, command)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    seen: set[int] = set()

    def grounds() -> bool:
        seen.update(children(process.pid))
        return any(seconds_used(child) >= 1 for child in seen)

    until(grounds)
    process.send_signal(signal.SIGTERM)
    out, told = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert told.startswith("Error: Interrupted;")
    assert told.count("\n") == 1
    until(lambda: not any(map(is_alive, seen)))
