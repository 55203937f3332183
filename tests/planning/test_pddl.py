from pathlib import Path

import pytest

from distill.common import InputError
from distill.planning import Domain, Instance, Labelling, expand, instance_files, label

# Constants, a nullary predicate, negative preconditions, equality, types, a negated goal.
PORT = """
(define (domain port)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types ship dock - object tug - ship)
  (:constants home - dock)
  (:predicates (at ?s - ship ?d - dock) (open) (closed-for ?d - dock ?s - ship))
  (:action open-port :parameters () :precondition (not (open)) :effect (open))
  (:action sail :parameters (?s - ship ?from ?to - dock)
    :precondition (and (open) (at ?s ?from) (not (= ?from ?to)) (not (closed-for ?to ?s)))
    :effect (and (not (at ?s ?from)) (at ?s ?to))))
"""
TASK = """
(define (problem p) (:domain port)
  (:objects a - dock t - tug s - ship)
  (:init (at t a) (at s a) (closed-for home s))
  (:goal (and (at t home) (not (at s home)))))
"""


@pytest.fixture(scope="module")
def port() -> Domain:
    return Domain(PORT, "port.pddl")


def test_constants_types_nullary_and_negated_goals(port: Domain) -> None:
    data = label(Instance(port, TASK, "p"), Labelling())
    roles = {predicate.name: (predicate.arity, predicate.role) for predicate in data.vocabulary}
    assert roles == {
        "at": (2, "state"),
        "closed-for": (2, "state"),
        "open": (0, "nullary"),
        "at_G": (2, "goal"),
        "at_nG": (2, "goal"),
        "closed-for_G": (2, "goal"),
        "open_G": (0, "goal"),
        "dock": (1, "type"),
        "ship": (1, "type"),
        "tug": (1, "type"),
        "is_home": (1, "constant"),
    }
    # The port is closed or open, the tug at either dock, the ship stays where it is.
    assert sorted(data.v_star.tolist()) == [0, 1, 2]
    start = int(data.v_star.argmax())
    written = (
        "at t a", "at s a", "closed-for home s", "at_G t home", "at_nG s home", "dock a", "dock home",
        "ship t", "ship s", "tug t", "is_home home",
    )  # fmt: skip
    assert sorted(data.atom_names(start)) == sorted(f"({atom})" for atom in written)


def test_goal_marking_of_negated_goals(port: Domain) -> None:
    data = expand(Instance(port, TASK, "p"), 100)
    assert data is not None
    marked = data.structures(goal_marking=True)
    for state, value in enumerate(data.v_star):
        names = [name for name, _ in marked.decode(state) if "_G" in name or "_nG" in name]
        assert names == ["at_G,T" if value == 0 else "at_G,F", "at_nG,T"]


def test_case_and_comments_do_not_matter(port: Domain) -> None:
    loud = Instance(port, TASK.upper().replace("(:INIT", "; (at the start\n(:INIT"), "p")
    assert loud.goals == Instance(port, TASK, "p").goals


def test_a_state_as_pddl_reads_back(port: Domain) -> None:
    instance = Instance(port, TASK, "p")
    successors = [state for _, state in instance.successors(instance.initial_state)]
    assert successors
    for state in successors:
        again = Instance(port, instance.to_pddl(state), "again")
        assert sorted(again.fluent_atoms(again.initial_state)) == sorted(instance.fluent_atoms(state))
        assert (again.goals, again.facts, again.objects) == (instance.goals, instance.facts, instance.objects)


def test_auxiliary_predicates_of_pymimir_stay_hidden() -> None:
    domain = Domain(
        PORT.replace(":equality", ":equality :universal-preconditions").replace(
            "(and (open)", "(and (forall (?x - ship) (not (closed-for ?from ?x))) (open)"
        )
    )
    data = label(Instance(domain, TASK, "p"), Labelling())
    assert [p.name for p in data.vocabulary if p.role == "state"] == ["at", "closed-for"]
    assert sorted(data.v_star.tolist()) == [0, 1, 2]


def test_derived_atoms_are_part_of_the_state() -> None:
    domain = Domain(
        PORT.replace(":equality", ":equality :derived-predicates :existential-preconditions")
        .replace("(open)", "(open) (busy ?d - dock)", 1)
        .replace(
            "(:action open-port",
            "(:derived (busy ?d - dock) (exists (?s - tug) (at ?s ?d)))\n(:action open-port",
        )
    )
    data = label(Instance(domain, TASK, "p"), Labelling())
    for state in range(len(data)):
        atoms = data.atom_names(state)
        [tug] = [atom.split()[2] for atom in atoms if atom.startswith("(at t ")]
        assert [atom for atom in atoms if atom.startswith("(busy ")] == [f"(busy {tug}"]


@pytest.mark.parametrize(
    ("domain", "task", "told"),
    [
        (PORT.replace("(open) (at", "(open (at"), TASK, "port.pddl"),
        (PORT.replace("(open) (at ?s ?from)", "(opened) (at ?s ?from)"), TASK, "port.pddl.*opened"),
        (PORT.replace("(:constants", "(:functions (total-fuel ?d - dock)) (:constants"), TASK, "port.pddl"),
        (PORT, TASK.replace("(at t a)", "(at t nowhere)"), "p.pddl.*nowhere"),
        (PORT, TASK.replace("domain port", "domain harbour"), "p.pddl.*harbour"),
        (PORT, TASK.replace("(:init", "(:initial"), "p.pddl, line 4"),
        (PORT, TASK.replace("(at t home)", "(or (at t home) (at t a))"), "p.pddl"),
        (PORT, "", "p.pddl"),
    ],
)
def test_bad_pddl_gets_one_sentence(tmp_path: Path, domain: str, task: str, told: str) -> None:
    (tmp_path / "port.pddl").write_text(domain)
    (tmp_path / "p.pddl").write_text(task)
    with pytest.raises(InputError, match=told) as caught:
        Instance.read(Domain.read(tmp_path / "port.pddl"), tmp_path / "p.pddl")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        Domain.read(tmp_path / "none.pddl")
    with pytest.raises(InputError, match="There is no folder"):
        instance_files(tmp_path / "none")
    with pytest.raises(InputError, match="holds no PDDL instances"):
        instance_files(tmp_path)
    (tmp_path / "p.pddl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        Domain.read(tmp_path / "p.pddl")


def test_files_come_in_natural_order(tmp_path: Path) -> None:
    for name in ("p10.pddl", "p2.pddl", "domain.pddl", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [path.name for path in instance_files(tmp_path)] == ["p2.pddl", "p10.pddl"]
