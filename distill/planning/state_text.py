"""Labelled states in the text format of the thesis's data: one file `<instance>_states.txt` an instance.

Sections stand between lines `BEGIN_X` and `END_X`: `OBJECTS` and `PREDICATES` (a number and a name a line),
`FACT_LIST` and `GOAL_LIST` (atoms), and `STATE_LIST`, which holds a `LABELED_STATE` for each state: V* on a
line, then the atoms in a section `STATE`. An atom is a line of numbers: its predicate, then its objects.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from distill.common import InputError, read_text, shown
from distill.planning.encoding import InstanceEncoding, Row
from distill.planning.pddl import Instance
from distill.structures import UNSOLVABLE, V_STAR, DataSet

_BUILT_IN = {"object", "number", "="}  # predicates that planners add to a domain
Atom = tuple[str, tuple[str, ...]]


def read_state_text(path: Path, instance: Instance) -> DataSet:
    """Read the labelled states of an instance; a state that the file repeats is in the set as often.

    Examples
    --------
    >>> import tempfile
    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> file = Path(tempfile.mkdtemp()) / "tower_states.txt"
    >>> _ = file.write_text(
    ...     "BEGIN_OBJECTS\\n0 b1\\n1 b2\\nEND_OBJECTS\\nBEGIN_PREDICATES\\n0 holding\\n1 clear\\n"
    ...     "2 ontable\\nEND_PREDICATES\\nBEGIN_FACT_LIST\\nEND_FACT_LIST\\nBEGIN_GOAL_LIST\\n1 1\\n"
    ...     "END_GOAL_LIST\\nBEGIN_STATE_LIST\\nBEGIN_LABELED_STATE\\n0\\nBEGIN_STATE\\n0 0\\n1 1\\n2 1\\n"
    ...     "END_STATE\\nEND_LABELED_STATE\\nEND_STATE_LIST\\n"
    ... )
    >>> data = read_state_text(file, instance)
    >>> data.v_star, data.atom_names(0)
    (array([0], dtype=int32), ['(clear b2)', '(holding b1)', '(ontable b2)', '(clear_G b2)'])
    """
    if len(instance.domain.pymimir.get_derived_predicates()):
        raise InputError(
            f"{shown(instance.domain.source)} has derived predicates, which {shown(path)} does not hold; "
            "label the states with `distill data`."
        )
    lines = _Lines(path, read_text(path).splitlines())
    encoding = InstanceEncoding.of(instance)
    names = _Names(
        lines,
        instance,
        encoding,
        dict(_numbered(lines, "OBJECTS")),
        dict(_numbered(lines, "PREDICATES")),
    )
    names.check_objects()
    facts = [names.atom(text) for text in lines.section("FACT_LIST")]
    names.check_facts(facts)
    goals = [names.atom(text) for text in lines.section("GOAL_LIST")]
    names.check_goals(goals)
    data = _states(lines, names)
    lines.check_end()
    return data


def _states(lines: "_Lines", names: "_Names") -> DataSet:
    number: dict[Row, int] = {}
    of_line: dict[str, int | None] = {}
    labels: list[int] = []
    entries: list[int] = []
    owners: list[int] = []
    for text in lines.section("STATE_LIST"):
        lines.expect(text, "BEGIN_LABELED_STATE")
        label = _label(lines)
        lines.expect(lines.next("STATE_LIST"), "BEGIN_STATE")
        atoms = set()
        for atom in lines.until("END_STATE"):
            if atom not in of_line:
                of_line[atom] = names.changing(atom, number)
            entry = of_line[atom]
            if entry is not None:
                atoms.add(entry)
        names.check_label(label, atoms, number)
        lines.expect(lines.next("STATE_LIST"), "END_LABELED_STATE")
        entries += sorted(atoms)
        owners += [len(labels)] * len(atoms)
        labels.append(label)
    return names.encoding.data(
        list(number),
        np.array(entries, dtype=np.int64),
        np.array(owners, dtype=np.int64),
        {V_STAR: np.array(labels, dtype=np.int32)},
        len(labels),
    )


def _label(lines: "_Lines") -> int:
    text = lines.next("STATE_LIST")
    try:
        label = int(text)
    except ValueError:
        label = UNSOLVABLE - 1
    if not UNSOLVABLE <= label < 2**31 or not text.isascii():
        raise lines.error(
            f"the label must be a whole number of steps ({UNSOLVABLE} for a dead end), not {shown(text)!r}"
        )
    return label


def _numbered(lines: "_Lines", section: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for text in lines.section(section):
        number, _, name = text.partition(" ")
        if not name.strip() or not number.isdigit():
            raise lines.error(f"a line of {section} must hold a number and a name, not {shown(text)!r}")
        if number in seen:
            raise lines.error(f"the number {number} is given twice in {section}")
        seen.add(number)
        yield number, name.strip().lower()


@dataclass
class _Lines:
    """The lines of a file, blank ones left out, with the number of the present one."""

    path: Path
    lines: list[str]
    number: int = 0

    def next(self, section: str) -> str:
        while self.number < len(self.lines):
            self.number += 1
            if text := self.lines[self.number - 1].strip():
                return text
        raise self.error(f"the file ends within {section}; it is truncated")

    def check_end(self) -> None:
        while self.number < len(self.lines):
            self.number += 1
            if text := self.lines[self.number - 1].strip():
                raise self.error(f"nothing may follow the last section, but {shown(text)!r} does")

    def until(self, end: str) -> Iterator[str]:
        while (text := self.next(end.removeprefix("END_"))) != end:
            if text.startswith(("BEGIN_", "END_")):
                raise self.error(f"{end} is missing before {shown(text)}")
            yield text

    def section(self, name: str) -> Iterator[str]:
        self.expect(self.next(name), f"BEGIN_{name}")
        while (text := self.next(name)) != f"END_{name}":
            yield text

    def expect(self, text: str, wanted: str) -> None:
        if text != wanted:
            raise self.error(f"{wanted} must stand here, not {shown(text)!r}")

    def error(self, reason: str) -> InputError:
        return InputError(f"{shown(self.path)}, line {max(1, self.number)}: {reason}; correct the file.")


@dataclass
class _Names:
    """The numbers of a file, matched with the names of an instance."""

    lines: _Lines
    instance: Instance
    encoding: InstanceEncoding
    objects: dict[str, str]
    predicates: dict[str, str]
    fixed: set[Atom] = field(default_factory=set)

    def check_objects(self) -> None:
        for name in self.predicates.values():
            if name not in self.encoding.vocabulary and name not in _BUILT_IN:
                raise self.lines.error(
                    f"the domain {shown(self.instance.domain.source)} has no predicate {shown(name)}"
                )
        self._same(set(self.objects.values()), set(self.instance.objects), "object")

    def check_facts(self, given: list[Atom]) -> None:
        # Types are not always listed.
        types = {one.name for one in self.encoding.vocabulary if one.role == "type"} | _BUILT_IN
        self.fixed = set(self.instance.facts)
        wanted = {atom for atom in self.fixed if atom[0] not in types}
        listed = {atom for atom in given if atom[0] not in types}
        self._same({_text(atom) for atom in listed}, {_text(atom) for atom in wanted}, "static fact")

    def check_goals(self, given: list[Atom]) -> None:
        wanted = {_text((name, arguments)) for name, arguments, holds in self.instance.goals if holds}
        self._same({_text(atom) for atom in given}, wanted, "goal")

    def _same(self, given: set[str], wanted: set[str], what: str) -> None:
        place = shown(self.instance.source)
        for names, sentence in (
            (given - wanted, f"the instance {place} has no {what} {{}}"),
            (wanted - given, f"the {what} {{}} of the instance {place} is missing"),
        ):
            if names:
                reason = sentence.format(shown(min(names)))
                raise self.lines.error(f"{reason}, so these are states of another instance")

    def atom(self, text: str) -> Atom:
        predicate, *arguments = text.split()
        if predicate not in self.predicates:
            raise self.lines.error(f"there is no predicate with the number {shown(predicate)}")
        name = self.predicates[predicate]
        for one in arguments:
            if one not in self.objects:
                raise self.lines.error(f"there is no object with the number {shown(one)}")
        if name in self.encoding.vocabulary and self.encoding.vocabulary[name].arity != len(arguments):
            arity = self.encoding.vocabulary[name].arity
            raise self.lines.error(f"{name} takes {arity} objects, not {len(arguments)}")
        return name, tuple(self.objects[one] for one in arguments)

    def changing(self, text: str, number: dict[Row, int]) -> int | None:
        """The number of an atom of a state; None if it holds in all states."""
        atom = self.atom(text)
        if atom in self.fixed or atom[0] in _BUILT_IN:
            return None
        if atom[0] in self._static:
            raise self.lines.error(
                f"{_text(atom)} is static and does not hold in the instance {shown(self.instance.source)}, "
                "so these are states of another instance"
            )
        return number.setdefault(self.encoding.row(*atom), len(number))

    @property
    def _static(self) -> set[str]:
        return {one.get_name() for one in self.instance.domain.pymimir.get_static_predicates()}

    def check_label(self, label: int, atoms: set[int], number: dict[Row, int]) -> None:
        """Refuse a label that says of a state whether it is a goal, and is wrong."""
        holds = all(
            ((name, arguments) in self.fixed or number.get(self.encoding.row(name, arguments)) in atoms)
            == positive
            for name, arguments, positive in self.instance.goals
        )
        if holds != (label == 0):
            what = "a goal state must have the label 0" if holds else "only a goal state has the label 0"
            raise self.lines.error(f"{what}, not {label}" if holds else what)


def _text(atom: Atom) -> str:
    return f"({' '.join([atom[0], *atom[1]])})"
