"""The published figures of Tables 1 and 2 of `symmetries.txt`, and their comparison with ours."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from distill.common import Record, read_text, read_yaml

_FILE = Path(__file__).parent / "published" / "symmetries.yaml"
Pair = tuple[int, int]


class DomainCounts(Record):
    """The counts of a domain in Tables 1 and 2, as `Expressivity.summary` returns them."""

    instances: int
    solvable_instances: int
    states: int
    states_of_solvable_instances: int
    unsolvable_states: int
    classes_summed_over_instances: int
    classes_across_solvable_instances: int
    training_states: int
    training_classes: int
    max_v_star: int
    conflicts_E_V: dict[str, list[int]]  # noqa: N815
    random_networks: dict[str, Any] | None = None


@dataclass(frozen=True)
class PublishedCounts:
    """The figures of a domain in Tables 1 and 2.

    Attributes
    ----------
    name : of the domain.
    instances : the number of instances.
    states, classes : as they are printed, from a thousand on in thousands (K) or millions (M).
    conflicts : for each colouring the E- and V-conflicts.
    corrected : for some colourings those that the corrected code of the paper computes.
    training_states, training_classes : without and with reduction, in Table 2; None if it leaves them out.
    """

    name: str
    instances: int
    states: str
    classes: str
    conflicts: Mapping[str, Pair]
    corrected: Mapping[str, Pair]
    training_states: int | None = None
    training_classes: int | None = None

    def differences(self, ours: DomainCounts) -> list[str]:
        """The figures that differ from ours, with both; corrected ones replace what is printed."""
        pairs: list[tuple[str, object, object]] = [
            ("instances", ours.instances, self.instances),
            ("states", brief_count(ours.states), self.states),
            ("classes", brief_count(ours.classes_summed_over_instances), self.classes),
        ]
        for name, published in {**self.conflicts, **self.corrected}.items():
            pairs.append((name, _slashed(ours.conflicts_E_V[name]), _slashed(published)))
        if self.training_states is not None:
            pairs.append(("training states", ours.training_states, self.training_states))
            pairs.append(("training classes", ours.training_classes, self.training_classes))
        return [f"{what}: {mine}, published {theirs}" for what, mine, theirs in pairs if mine != theirs]

    def corrections(self) -> list[str]:
        """What the corrected code computes otherwise than the paper prints."""
        return [
            f"{self.name}, {name}: the paper prints {_slashed(self.conflicts[name])}, its corrected code "
            f"gives {_slashed(pair)}"
            for name, pair in self.corrected.items()
        ]


@dataclass(frozen=True)
class PublishedTables:
    """The figures of all domains.

    Attributes
    ----------
    source : the paper.
    instances : where its instances are.
    domains : the figures, in the order of Table 1.
    """

    source: str
    instances: str
    domains: tuple[PublishedCounts, ...]

    def match(self, names: Iterable[str]) -> PublishedCounts | None:
        """The domain that one of some names of folders stands for; `blocks_3` is Blocks3ops, for example.

        Examples
        --------
        >>> tables = published_conflicts()
        >>> tables.match(["data", "blocks_3"]).name, tables.match(["grid-2"])
        ('Blocks3ops', None)
        """
        wanted = {_plain(name) for name in names}
        return next((one for one in self.domains if _plain(one.name) in wanted), None)


@cache
def published_conflicts() -> PublishedTables:
    """The figures of Drexler et al. 2024.

    Examples
    --------
    >>> tables = published_conflicts()
    >>> len(tables.domains), tables.domains[7].name, tables.domains[7].conflicts["1-WL"]
    (18, 'Ferry', (36, 36))
    """
    content, _ = read_yaml(read_text(_FILE), lambda line: f"{_FILE}, line {line}")

    def pairs(given: Mapping[str, list[int]]) -> dict[str, Pair]:
        return {name: (e, v) for name, (e, v) in given.items()}

    domains = []
    for name, row in content["domains"].items():
        conflicts = pairs(dict(zip(content["colourings"], row.pop("conflicts"), strict=True)))
        corrected = pairs(row.pop("corrected", {}))
        states, classes = (str(row.pop(key)) for key in ("states", "classes"))
        domains.append(
            PublishedCounts(
                name, states=states, classes=classes, conflicts=conflicts, corrected=corrected, **row
            )
        )
    return PublishedTables(content["source"], content["instances"], tuple(domains))


def brief_count(number: int) -> str:
    """A number as Table 1 prints it.

    Examples
    --------
    >>> brief_count(90), brief_count(2580), brief_count(2_569_566)
    ('90', '3 K', '3 M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "K")):
        if number >= size:
            return f"{(number + size // 2) // size} {unit}"
    return str(number)


def _slashed(pair: Iterable[int]) -> str:
    return "/".join(map(str, pair))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]|ops", "", name.lower())
