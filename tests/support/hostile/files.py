"""Paths that name no usable file, for every kind of file that a command reads or writes."""

import contextlib
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.commands import distill
from tests.support.hostile import Case, contents, refused

DOMAIN = """(define (domain d) (:requirements :strips) (:predicates (p ?x))
  (:action a :parameters (?x) :precondition (and) :effect (p ?x)))
"""
INSTANCE = "(define (problem i) (:domain d) (:objects o) (:init) (:goal (p o)))\n"
READ: dict[str, tuple[str, ...]] = {
    "formula": ("formula", "translate", "./{}"),
    "config": ("run", "{}"),
    "config of training": ("train", "{}"),
    "sweep": ("batch", "{}"),
    "problem class": ("data", "{}.yaml"),
    "checkpoint": ("checkpoint", "info", "{}"),
    "our checkpoint": ("checkpoint", "info", "{}.safetensors"),
    "run": ("runs", "show", "{}"),
    "verified run": ("verify-run", "{}"),
    "certificate": ("recheck", "{}"),
    "domain": ("plan", "--domain", "{}", "--instance", "i.pddl"),
    "instance": ("plan", "--domain", "d.pddl", "--instance", "{}"),
    "instances": ("data", "--domain", "d.pddl", "--instances", "{}"),
    "network": ("run", "--problem", "gripper", "--checkpoint", "{}", "--out", "out"),
    "removed run": ("runs", "rm", "{}", "--yes"),
}
WRITTEN: dict[str, tuple[str, ...]] = {
    "plan": ("plan", "--domain", "d.pddl", "--instance", "i.pddl", "--out", "{}"),
    "figure": ("formula", "eval", "p", "--domain", "d.pddl", "--instance", "i.pddl", "--figure", "{}.svg"),
    "store": ("run", "--domain", "d.pddl", "--train", "all", "--pool", "enumerate", "--out", "{}"),
}


def _nothing(path: Path) -> None:
    """There is no such file."""


def _folder(path: Path) -> None:
    path.mkdir()


def _content(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


INPUTS: dict[str, Callable[[Path], None]] = {
    "missing": _nothing,
    "folder": _folder,
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path),
    "empty": _content(b""),
    "zeros": _content(b"\0" * 5_000),
    "not UTF-8": _content(b"\xff\xfe\x80" * 50),
    "control characters": _content(bytes(range(32)) * 20),
    "mark only": _content(b"\xef\xbb\xbf"),
    "brackets": _content(b"[" * 100_000),
    "parentheses": _content(b"(" * 100_000),
    "aliases": _content(b"a: &a [x, x]\nb: [*a, *a]\n"),
    "twice": _content(b"problem: gripper\nproblem: gripper\n"),
    "number": _content(b"9" * 100_000),
}
OUTPUTS: dict[str, Callable[[Path], None]] = {
    "folder": lambda path: (path / "inner").mkdir(parents=True),
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/full"),
    "loop": lambda path: path.symlink_to(path),
}
NAMES = {
    "long": "x" * 5_000,
    "long parts": "/".join(["y" * 300] * 3),
    "null": "a\0b",
    "below a file": "i.pddl/x",
}


def cases(number: int, seed: int) -> Iterator[Case]:
    """Pairs of a command and a path, in random order; each of them once, then again."""
    pairs = [(use, kind) for use in READ for kind in (*INPUTS, *NAMES)]
    pairs += [
        (use, kind) for use in WRITTEN for kind in (*OUTPUTS, *NAMES) if (use, kind) != ("store", "folder")
    ]
    rng = random.Random(seed)
    rng.shuffle(pairs)
    for count in range(number):
        use, kind = pairs[count % len(pairs)]
        yield Case(f"{count} {use}: {kind}", (use, kind))


def failure(case: Case, folder: Path) -> str | None:
    """What is wrong with the answer to a path: it is refused in a sentence, and nothing is written."""
    use, kind = case.data
    (folder / "d.pddl").write_text(DOMAIN)
    (folder / "i.pddl").write_text(INSTANCE)
    (folder / "all").mkdir()
    (folder / "all" / "i.pddl").write_text(INSTANCE)
    arguments = {**READ, **WRITTEN}[use]
    path = next(one for one in arguments if "{}" in one).format(NAMES.get(kind, "given"))
    if kind not in NAMES:
        (INPUTS if use in READ else OUTPUTS)[kind](folder / path)
    before = _outside(folder)
    with contextlib.chdir(folder):
        try:
            done = distill(*(one.format(NAMES.get(kind, "given")) for one in arguments))
        except Exception as error:
            return f"it raised {type(error).__name__}: {str(error)[:300]}"
    if (use, kind) in ACCEPTED:
        return f"refused: {done.stderr}" if done.returncode else None
    if (after := _outside(folder)) != before:
        return f"it changed {sorted(after.keys() ^ before.keys())}"
    return refused(done)


def _outside(folder: Path) -> dict[str, bytes]:
    """What is there besides the store, in which the failure of a job is recorded."""
    return {name: content for name, content in contents(folder).items() if not name.startswith("out/")}


ACCEPTED = {("plan", "loop"), ("figure", "loop")}  # a link is replaced by the file
