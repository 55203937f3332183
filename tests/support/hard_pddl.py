"""PDDL that is hard for a parser or for grounding."""

from pathlib import Path


def wide(folder: Path, parameters: int, objects: int) -> tuple[Path, Path]:
    """The domain and the instance of an action that is applicable to all tuples of objects."""
    names = [f"?x{number}" for number in range(parameters)]
    needs = " ".join(f"(p {name})" for name in names)
    action = f"(:action a :parameters ({' '.join(names)}) :precondition (and {needs}) :effect (q ?x0))"
    held = [f"o{number}" for number in range(objects)]
    goal = " ".join(f"(q {name})" for name in held)
    return write(
        folder,
        f"(define (domain wide) (:requirements :strips) (:predicates (p ?x) (q ?x) (r))\n {action}\n"
        " (:action b :parameters (?x) :precondition (q ?x) :effect (not (p ?x))))",
        f"(define (problem w) (:domain wide) (:objects {' '.join(held)})\n"
        f" (:init {' '.join(f'(p {name})' for name in held)}) (:goal (and {goal} (r))))",
    )


def deep(folder: Path, nesting: int) -> tuple[Path, Path]:
    """The domain and the instance of a condition that is nested so deeply."""
    condition = "(and " * nesting + "(p ?x)" + ")" * nesting
    return write(
        folder,
        "(define (domain deep) (:requirements :adl) (:predicates (p ?x))\n"
        f" (:action a :parameters (?x) :precondition {condition} :effect (not (p ?x))))",
        "(define (problem d) (:domain deep) (:objects a) (:init (p a)) (:goal (not (p a))))",
    )


def write(folder: Path, domain: str, problem: str) -> tuple[Path, Path]:
    """Write a domain and one instance into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / "domain.pddl", folder / "one.pddl"
    for file, text in zip(files, (domain, problem), strict=True):
        file.write_text(text)
    return files
