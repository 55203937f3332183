"""Damaged files of labelled states: refused with file and line, or read as they are written."""

import functools
import random
from collections.abc import Iterator
from pathlib import Path

from distill.common import InputError
from distill.planning import Instance, expand, problem_class, read_state_text
from tests.support.hostile import Case
from tests.support.state_texts import state_text

CLASSES = ("blocks-clear", "gripper", "miconic")
_WORDS = [
    "",
    "x",
    "-7",
    "99999999999999999999",
    "1.5",
    "٣",
    "0 0 0 0 0",
    "END_STATE",
    "BEGIN_STATE",
    "\x00",
    "(clear b1)",
]


@functools.cache
def original(name: str) -> tuple[Instance, list[str]]:
    instance = problem_class(name).make("train")[1]
    data = expand(instance, 20_000)
    assert data is not None
    return instance, state_text(data.pick(range(0, len(data), max(1, len(data) // 12)))).splitlines()


def cases(number: int, seed: int) -> Iterator[Case]:
    """One change each: a line lost, repeated, moved or rewritten, or an end that is missing."""
    rng = random.Random(seed)
    for count in range(number):
        name = CLASSES[count % len(CLASSES)]
        lines = list(original(name)[1])
        place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.choice(["cut", "lose", "repeat", "swap", "word", "part", "other"])
        if kind == "cut":
            lines = lines[:place]
        elif kind == "lose":
            del lines[place]
        elif kind == "repeat":
            lines.insert(place, lines[place])
        elif kind == "swap":
            lines[place], lines[other] = lines[other], lines[place]
        elif kind == "word":
            lines[place] = rng.choice(_WORDS)
        elif kind == "part":
            lines[place] = lines[place][: rng.randrange(1 + len(lines[place]))]
        else:
            name = CLASSES[(count + 1) % len(CLASSES)]
        yield Case(f"{count} {kind} {place}", (name, lines))


def failure(case: Case, folder: Path) -> str | None:
    """Why the result is wrong, or None."""
    name, lines = case.data
    file = folder / "p_states.txt"
    file.write_text("\n".join(lines))
    try:
        data = read_state_text(file, original(name)[0])
    except InputError as error:
        sentence = str(error)
        if f"{file}, line " not in sentence or "\n" in sentence or not sentence.endswith("."):
            return f"it said {sentence!r}"
        return None
    written = _plainly(lines)
    found = [(int(label), _atoms(data, state)) for state, label in enumerate(data.v_star)]
    return None if found == written else "it read other states than the file holds"


def _atoms(data, state: int) -> set[str]:
    """The atoms of a state but goals and types, which the file does not list."""
    plain = {one.name for one in data.vocabulary if one.role in ("state", "nullary")}
    return {atom for atom in data.atom_names(state) if atom[1:-1].split()[0] in plain}


def _plainly(lines: list[str]) -> list[tuple[int, set[str]]]:
    """The states of a file, read without any check."""
    kept = [line.strip() for line in lines if line.strip()]

    def part(name: str) -> list[str]:
        return kept[kept.index(f"BEGIN_{name}") + 1 : kept.index(f"END_{name}")]

    names = [dict(line.split(" ", 1) for line in part(name)) for name in ("PREDICATES", "OBJECTS")]

    def atom(line: str) -> str:
        predicate, *objects = line.split()
        return f"({' '.join([names[0][predicate], *(names[1][one] for one in objects)])})"

    always = {atom(line) for line in part("FACT_LIST")}
    states, inside = [], part("STATE_LIST")
    while inside:
        end = inside.index("END_LABELED_STATE")
        states.append((int(inside[1]), {atom(line) for line in inside[3 : end - 1]} | always))
        inside = inside[end + 1 :]
    return states
