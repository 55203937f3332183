"""Sweeps: one YAML file that plans many runs.

| entry | meaning |
| --- | --- |
| `name` | the name of the sweep; by default the name of its file |
| `base` | a config's file, or the entries of a config, or a list of these |
| `cases` | a list of changes to the base, tried one after the other |
| `grid` | lists of values, of which every combination is tried |
| `sample` | draw this many combinations of cases and grid at random for each base; all if left out |
| `seeds` | the number of seeds from 0 on, or a list of seeds |

Changes are given by `section.setting` or by entry; null removes a value of the base.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

from distill.common import InputError, did_you_mean
from distill.jobs.config import Document, Place
from distill.jobs.run_config import Draft, RunConfig, key_path

ENTRIES = {
    "name": "What the sweep is called; its file's name if left out.",
    "base": "A config's file, or the entries of a config, or a list of these.",
    "cases": "Changes to the base, tried one after the other.",
    "grid": "Lists of values, of which every combination is tried.",
    "sample": "How many combinations of cases and grid to draw at random for each base; all if left out.",
    "seeds": "The number of seeds from 0 on, or a list of seeds.",
}
_SEED = "distillation.seed"
_MOST = 10_000  # more jobs are refused as a mistake


@dataclass(frozen=True)
class PlannedJob:
    """One job of a sweep.

    Attributes
    ----------
    config : the config; None if the combination is not valid.
    settings : the values that the sweep sets for this job, and the name of the base if there are several.
    error : why it cannot run.
    """

    config: RunConfig | None
    settings: Mapping[str, Any]
    error: str | None = None


@dataclass(frozen=True)
class Sweep:
    """Many runs that differ in a few settings.

    Attributes
    ----------
    name : its name.
    jobs : the runs, all different; for each base the cases, for each case the grid, and seeds last.
    """

    name: str
    jobs: tuple[PlannedJob, ...]

    @staticmethod
    def read(path: Path, changes: Mapping[str, Any] | None = None) -> "Sweep":
        """Read a YAML file; paths in it are relative to it.

        A combination that is not valid becomes a job with an error; other jobs are not affected.

        Parameters
        ----------
        changes : changes by the user to all jobs; see `RunConfig.with_settings`.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "pools.yaml"
        >>> _ = file.write_text(\"\"\"
        ... base: {problem: gripper, checkpoint: gripper.safetensors}
        ... grid: {distillation.pool: [ridt, both]}
        ... seeds: 3
        ... \"\"\")
        >>> sweep = Sweep.read(file)
        >>> sweep.name, len(sweep.jobs), sweep.varied
        ('pools', 6, ['distillation.pool', 'distillation.seed'])
        >>> sweep.jobs[-1].settings
        {'distillation.pool': 'both', 'distillation.seed': 2}
        """
        document = Document.read(path)
        return _Plan(document, changes or {}).sweep()

    @property
    def varied(self) -> list[str]:
        """The keys with more than one value, or with a value for some jobs only."""
        keys = dict.fromkeys(key for job in self.jobs for key in job.settings)
        given = {key: sum(key in job.settings for job in self.jobs) for key in keys}
        return [key for key in keys if len(self.values(key)) > 1 or given[key] < len(self.jobs)]

    def values(self, key: str) -> list[Any]:
        """The distinct values of a key over all jobs, in order."""
        given = [job.settings[key] for job in self.jobs if key in job.settings]
        return list({_text(value): value for value in given}.values())


def is_sweep(content: Mapping[str, Any]) -> bool:
    """Whether a file with these entries is a sweep, and not a config.

    Examples
    --------
    >>> is_sweep({"base": "gripper.yaml"}), is_sweep({"problem": "gripper"})
    (True, False)
    """
    return any(entry in content for entry in ENTRIES if entry != "name")


@dataclass(frozen=True)
class _Changes:
    """Changes that belong together, by their full keys, and their position in the file."""

    values: Mapping[str, Any]
    place: Place


def check_jobs(number: int, subject: str) -> None:
    """Refuse more jobs than anybody wants.

    Examples
    --------
    >>> check_jobs(10**9, "pools.yaml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: pools.yaml plans 1000000000 jobs, and at most 10000 are ...
    """
    if number > _MOST:
        raise InputError(f"{subject} plans {number} jobs, and at most {_MOST} are accepted; vary less.")


class _Plan:
    """The parts of a sweep's file, checked."""

    def __init__(self, document: Document, changes: Mapping[str, Any]) -> None:
        self.document = document
        content, place = document.content, document.place
        for entry, value in content.items():
            if entry not in ENTRIES:
                raise InputError(f"{place(entry)}: there is no entry {entry}; {did_you_mean(entry, ENTRIES)}")
            if value is None:
                raise InputError(f"{place(entry)}: {entry} has no value; give one, or remove it.")
        self.name = content.get("name", document.path.stem)
        if not isinstance(self.name, str) or not self.name or "/" in self.name:
            raise InputError(f"{place('name')}: name must be text without /, not {self.name!r}.")
        if "base" not in content:
            raise InputError(f"{document.path} must give a base: a config's file, or its entries.")
        self.cases = self._cases()
        self.grid = self._grid()
        self.sample = self._sample()
        self.seeds = self._seeds()
        self._check_once(changes)
        self.bases = [(name, draft.with_options(changes)) for name, draft in self._bases()]

    def sweep(self) -> Sweep:
        """All jobs, each once."""
        steps = [self.cases, *self.grid]
        combinations = prod(map(len, steps))
        drawn = min(combinations, self.sample or combinations)
        check_jobs(len(self.bases) * drawn * len(self.seeds), str(self.document.path))
        jobs: dict[str, PlannedJob] = {}
        for name, draft in self.bases:
            named = {"base": name} if len(self.bases) > 1 else {}
            numbers = sorted(Random(name).sample(range(combinations), drawn))
            for chosen in product((_combination(steps, number) for number in numbers), self.seeds):
                job = self._job(draft, named, [*chosen[0], chosen[1]])
                same = job.config.to_mapping() if job.config else [job.settings, job.error]
                jobs.setdefault(_text(same), job)
        return Sweep(self.name, tuple(jobs.values()))

    def _job(self, draft: Draft, named: Mapping[str, Any], steps: Sequence[_Changes]) -> PlannedJob:
        settings = dict(named)
        for step in steps:
            settings |= step.values
        try:
            for step in steps:
                draft = draft.with_changes(step.values, self.document.path.parent, step.place)
            return PlannedJob(draft.config(), settings)
        except InputError as error:
            return PlannedJob(None, settings, str(error))

    def _bases(self) -> list[tuple[str, Draft]]:
        given, place = self.document.content["base"], self.document.place
        if given == []:
            raise InputError(f"{place('base')}: base is an empty list; give a config's file, or its entries.")
        if isinstance(given, list):
            found = [self._base(one, partial(place, "base", n)) for n, one in enumerate(given)]
        else:
            found = [self._base(given, partial(place, "base"))]
        names = _distinct_names([name for name, _ in found])
        return [(name, draft) for name, (_, draft) in zip(names, found, strict=True)]

    def _base(self, given: Any, place: Place) -> tuple[Path, Draft]:
        folder = self.document.path.parent
        if isinstance(given, dict):
            source = given.get("problem") or given.get("domain")
            return Path(str(source or "base")), Draft.of(given, folder, place)
        if not isinstance(given, str) or not given:
            raise InputError(f"{place()}: a base must be a config's file, or its entries, not {given!r}.")
        file = folder / given
        if not file.is_file():
            raise InputError(f"{place()}: there is no config {file}; check the path.")
        base = Document.read(file)
        return file, Draft.of(base.content, file.parent, base.place)

    def _cases(self) -> list[_Changes]:
        given, place = self.document.content.get("cases", [{}]), self.document.place
        if not isinstance(given, list) or not given:
            raise InputError(f"{place('cases')}: cases must be a list of changes, not {given!r}.")
        found = []
        for number, case in enumerate(given):
            if not isinstance(case, dict):
                raise InputError(f"{place('cases', number)}: a case must give values by key, not {case!r}.")
            found.append(self._changes(case, partial(place, "cases", number)))
        return found

    def _grid(self) -> list[list[_Changes]]:
        given, place = self.document.content.get("grid", {}), self.document.place
        if not isinstance(given, dict):
            raise InputError(f"{place('grid')}: grid must give lists of values by key, not {given!r}.")
        found = []
        for key, values in given.items():
            if not isinstance(values, list) or not values:
                raise InputError(f"{place('grid', key)}: {key} must have a list of values, not {values!r}.")
            found.append(
                [self._changes({key: one}, partial(self._in_grid, n)) for n, one in enumerate(values)]
            )
        return found

    def _in_grid(self, number: int, key: str, *rest: str) -> str:
        return self.document.place("grid", key, number, *rest)

    def _sample(self) -> int | None:
        given = self.document.content.get("sample")
        if given is not None and (type(given) is not int or given < 1):
            place = self.document.place("sample")
            raise InputError(f"{place}: sample must be a whole number of at least 1, not {given!r}.")
        return given

    def _seeds(self) -> list[_Changes]:
        if "seeds" not in self.document.content:
            return [_Changes({}, self.document.place)]
        given = self.document.content["seeds"]
        if type(given) is int:
            check_jobs(given, self.document.place("seeds"))
        counted = range(given) if type(given) is int else []
        seeds = given if isinstance(given, list) else counted
        if not seeds or any(type(seed) is not int or seed < 0 for seed in seeds):
            raise InputError(
                f"{self.document.place('seeds')}: seeds must be their number, at least 1, or a list of whole "
                f"numbers of at least 0, not {given!r}."
            )
        return [_Changes({_SEED: seed}, lambda *keys: self.document.place("seeds")) for seed in seeds]

    def _changes(self, given: Mapping[str, Any], place: Place) -> _Changes:
        keys: dict[str, str] = {}
        for key in given:
            full = ".".join(key_path(key, place(key)))
            if full in keys:
                raise InputError(f"{place(key)}: {full} is given twice; remove one.")
            keys[full] = key
        return _Changes(
            {full: given[key] for full, key in keys.items()}, lambda full, *rest: place(keys[full], *rest)
        )

    def _check_once(self, changes: Mapping[str, Any]) -> None:
        """Refuse a key that two parts of the sweep give, as only one of them would have an effect."""
        parts = [
            ("the cases", self.cases),
            *(("the grid", steps) for steps in self.grid),
            ("seeds", self.seeds),
        ]
        givers: dict[str, str] = {}
        for giver, steps in parts:
            places = {full: step.place for step in steps for full in step.values}
            for full, other in product(places, givers):
                if other == full or other.startswith(f"{full}."):
                    twice = f"{other} is given by {givers[other]} and again by {giver}"
                    raise InputError(f"{places[full](full)}: {twice}; remove one.")
            givers |= dict.fromkeys(places, giver)
        for key in changes:
            full = ".".join(key_path(key, "The options"))
            if full in givers:
                raise InputError(
                    f"The options: {full} is given by {givers[full]} of the sweep; change it there."
                )


def _combination(steps: Sequence[Sequence[_Changes]], number: int) -> list[_Changes]:
    """A combination of one change of each step; the last step changes fastest with the number."""
    chosen = []
    for step in reversed(steps):
        number, place = divmod(number, len(step))
        chosen.append(step[place])
    return chosen[::-1]


def _distinct_names(bases: list[Path]) -> list[str]:
    """Short and distinct names of bases.

    >>> _distinct_names([Path("runs/gripper.yaml"), Path("runs/miconic.yaml")])
    ['gripper', 'miconic']
    >>> _distinct_names([Path("runs/gripper.yaml"), Path("thesis/gripper.yaml")])
    ['runs/gripper', 'thesis/gripper']
    >>> _distinct_names([Path("gripper"), Path("gripper")])
    ['gripper 1', 'gripper 2']
    """
    longer = [f"{base.parent.name}/{base.stem}".lstrip("/") for base in bases]
    numbered = [f"{base.stem} {number}" for number, base in enumerate(bases, 1)]
    choices = [base.stem for base in bases], longer, numbered
    return next(names for names in choices if len(set(names)) == len(bases) or names is numbered)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
