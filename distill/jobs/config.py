"""Configs: YAML files with sources of states and settings."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from distill.common import InputError, Settings, did_you_mean, read_text, read_yaml, shown
from distill.planning import (
    SPLITS,
    Domain,
    Labelling,
    Split,
    problem_class,
    splits_by_size,
    splits_from_folders,
    splits_of_archives,
    with_states,
)
from distill.runs import with_family

SOURCE = {
    "problem": "A problem class (see `distill problems`), or a YAML file that declares one.",
    "domain": "A PDDL domain, instead of a problem.",
    "instances": "A folder of PDDL instances, split by their number of objects.",
    "train": "A folder of training instances.",
    "validation": "A folder of validation instances.",
    "test": "A folder of test instances.",
    "states": "A folder of states with labels, instead of labelling: train.npz, validation.npz and test.npz "
    "(without a problem or domain), or NAME_states.txt for each instance NAME.pddl.",
}
"""The entries that give the source of states."""

Key = str | int
Place = Callable[..., str]
"""Names the position of a part in messages, given the keys that lead to it."""

_CLASS_FILES = (".yaml", ".yml")


@dataclass(frozen=True)
class Document:
    """A YAML file with the line of each part.

    Attributes
    ----------
    path : the file.
    content : its entries, as plain data.
    lines : the line of each part, by the keys that lead to it.
    """

    path: Path
    content: dict[str, Any]
    lines: Mapping[tuple[Key, ...], int]

    @staticmethod
    def read(path: Path) -> "Document":
        """Read a file with entries by name.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "run.yaml"
        >>> _ = file.write_text("problem: gripper\\ntraining:\\n  seeds: 2\\n")
        >>> document = Document.read(file)
        >>> document.content
        {'problem': 'gripper', 'training': {'seeds': 2}}
        >>> Path(document.place("training", "seeds")).name
        'run.yaml, line 3'
        """
        content, lines = read_yaml(read_text(path), lambda line: f"{shown(path)}, line {line}")
        if isinstance(content, dict):
            return Document(path, content, lines)
        where = str(path)
        if content is not None:
            where += f", line {lines[()]}: a {'list' if isinstance(content, list) else 'single value'}"
        raise InputError(f"{where} has no entries; write some, such as `problem: gripper`.")

    def place(self, *keys: Key) -> str:
        """The file and the line of a part, or of the innermost existing part that would contain it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return f"{self.path}, line {self.lines[keys]}" if keys else str(self.path)


def read_config(
    path: Path, sections: Mapping[str, type[Settings]], files: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, Any], dict[str, Path]]:
    """Read a config; paths in it are relative to it.

    Parameters
    ----------
    sections : the settings of each section.
    files : entries that name files.

    Returns
    -------
    The source of states (`problem`, or `domain` with `instances` or with folders for splits), the settings of
    each section, and the files.
    """
    document = Document.read(path)
    source, found, named = read_entries(document.content, sections, files, path.parent, document.place)
    return source, {name: found.get(name, kind()) for name, kind in sections.items()}, named


def read_entries(
    content: Mapping[str, Any],
    sections: Mapping[str, type[Settings]],
    files: Collection[str],
    folder: Path,
    place: Place,
) -> tuple[dict[str, str], dict[str, Any], dict[str, Path]]:
    """Check the content of a config; see `read_config`. Only sections that occur are returned.

    Parameters
    ----------
    folder : the folder of relative paths.
    place : names the position of an entry or a setting in messages.

    Examples
    --------
    >>> read_entries({"problem": "gripper", "checkpoint": "a"}, {}, ["checkpoint"], Path("b"), "{}".format)
    ({'problem': 'gripper'}, {}, {'checkpoint': PosixPath('b/a')})
    """
    check_names(content, sections, files, place)
    sections = with_family(content, sections, place)
    found = {
        name: kind.from_mapping(content[name] or {}, partial(place, name), name)
        for name, kind in sections.items()
        if name in content
    }
    named = {}
    for entry in (*SOURCE, *files):
        if entry in content:
            value = content[entry]
            if not isinstance(value, str) or not value:
                kind = "a name" if entry == "problem" else "a path"
                raise InputError(f"{place(entry)}: {entry} must be {kind}, not {value!r}.")
            named[entry] = resolve_entry(entry, value, folder)
    source = {entry: value for entry, value in named.items() if entry in SOURCE}
    return source, found, {entry: Path(named[entry]) for entry in files if entry in named}


def check_names(
    content: Mapping[str, Any], sections: Mapping[str, type[Settings]], files: Collection[str], place: Place
) -> None:
    """Refuse unknown entries and settings, entries without a value, and sections that are no mapping.

    In an empty section all settings have their defaults.
    """
    sections = with_family(content, sections, place)
    known = (*SOURCE, *files, *sections)
    for entry, value in content.items():
        if entry not in known:
            owners = [name for name, kind in sections.items() if entry in kind.names()]
            hint = f"it is a setting of {' or '.join(owners)}." if owners else did_you_mean(entry, known)
            raise InputError(f"{place(entry)}: there is no entry {entry}; {hint}")
        if entry not in sections:
            if value is None:
                raise InputError(f"{place(entry)}: {entry} has no value; give one, or remove it.")
        elif value is not None:
            if not isinstance(value, Mapping):
                raise InputError(f"{place(entry)}: {entry} must hold settings by name, not {value!r}.")
            sections[entry].check_names(value, partial(place, entry), entry)


def resolve_entry(entry: str, value: str, folder: Path) -> str:
    """The value of an entry with its path resolved; a problem is a path only if the file exists.

    Examples
    --------
    >>> resolve_entry("domain", "blocks.pddl", Path("a")), resolve_entry("problem", "blocks", Path("a"))
    ('a/blocks.pddl', 'blocks')
    """
    if entry == "problem" and not (is_class_file(value) and (folder / value).is_file()):
        return value
    return str(folder / value)


def is_class_file(problem: str) -> bool:
    """Whether a problem is a file, not the name of an included class."""
    return problem.endswith(_CLASS_FILES)


def check_source(source: Mapping[str, str], subject: str) -> None:
    """Refuse a source of states that is incomplete or ambiguous; see `splits_of`."""
    folders = [name for name in SPLITS if name in source]
    given = source.keys() - {"states"}
    if "states" in source and not given:
        return
    if "problem" in source and len(given) > 1:
        raise InputError(f"{subject} must name either a problem or a domain with instances, not both.")
    if "instances" in source and folders:
        raise InputError(f"{subject} must give either instances or folders for the splits, not both.")
    if "problem" not in source and ("domain" not in source or len(given) == 1):
        raise InputError(f"{subject} must name a problem, or a domain with instances.")


def splits_of(source: Mapping[str, str], subject: str) -> list[Split]:
    """The splits of a problem class, of PDDL files or of labelled states.

    Parameters
    ----------
    source : `problem`, or `domain` with `instances` or with `train`, `validation` and `test`; and `states`,
        alone if it holds archives.
    subject : what gives the source, for messages.
    """
    check_source(source, subject)
    if source.keys() == {"states"}:
        return splits_of_archives(Path(source["states"]))
    splits = _labelled_splits(source)
    return with_states(splits, Path(source["states"])) if "states" in source else splits


def _labelled_splits(source: Mapping[str, str]) -> list[Split]:
    if "problem" in source:
        declared = problem_class(source["problem"])
        return [declared.split(name) for name in SPLITS if name in declared.splits]
    domain = Domain.read(Path(source["domain"]))
    if "instances" in source:
        return splits_by_size(domain, Path(source["instances"]), Labelling())
    folders = {name: Path(source[name]) for name in SPLITS if name in source}
    return splits_from_folders(domain, folders, Labelling())
