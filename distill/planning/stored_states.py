"""Labelled states from a folder, instead of labelling: archives of `distill data`, or text files."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from distill.common import InputError, shown
from distill.planning.pddl import Domain, Instance
from distill.planning.settings import Labelling
from distill.planning.splits import SPLITS, Split
from distill.planning.state_text import read_state_text
from distill.structures import DataSet, join

ENDING = "_states.txt"


def with_states(splits: Sequence[Split], folder: Path) -> list[Split]:
    """The splits with their labelled states in a folder.

    These are the archive `SPLIT.npz`, as `distill data --out` writes it, or else for each instance
    `NAME.pddl` the text `NAME_states.txt`, in the folder itself or in its folder of the name of the split.
    """
    return [replace(split, states=tuple(_files(split, folder))) for split in splits]


def _files(split: Split, folder: Path) -> list[Path]:
    archive = folder / f"{split.name}.npz"
    if archive.is_file():
        return [archive]
    if not folder.is_dir():
        raise InputError(f"There is no folder {shown(folder)}; give a folder of labelled states.")
    files = []
    for instance in split.instances:
        name = instance.name.removesuffix(".pddl") + ENDING
        places = [folder / name, folder / split.name / name]
        found = [file for file in places if file.exists()]
        if not found:
            raise InputError(
                f"{shown(folder)} holds neither {archive.name} nor {shown(name)}, the states of "
                f"{shown(instance.source)}; give another folder."
            )
        files.append(found[0])
    return files


def splits_of_archives(folder: Path) -> list[Split]:
    """The splits of the archives in a folder; the instances are those that the archives hold.

    Examples
    --------
    >>> import tempfile
    >>> from distill.planning import expand, problem_class
    >>> folder = Path(tempfile.mkdtemp())
    >>> expand(problem_class("blocks-clear").make("train")[0], 100).save(folder / "train.npz")
    >>> [(split.name, len(split.instances)) for split in splits_of_archives(folder)]
    [('train', 1)]
    """
    splits = []
    for name in SPLITS:
        file = folder / f"{name}.npz"
        if file.is_file():
            data = DataSet.load(file)
            domain = Domain(data.domain, str(file))
            given = [(one["pddl"], one["name"], one["parameters"]) for one in data.instances]
            instances = [Instance(domain, *one, source=f"{one[1]} in {file}") for one in given]
            splits.append(Split(name, instances, Labelling(), states=(file,)))
    if not splits:
        raise InputError(
            f"{shown(folder)} holds none of {', '.join(f'{name}.npz' for name in SPLITS)}; give such a "
            f"folder, or with *{ENDING} also a problem class or --domain with instances."
        )
    return splits


def read_states(split: Split) -> DataSet:
    """The labelled states of a split from its files."""
    files = split.states or ()
    if [file.suffix for file in files] == [".npz"]:
        data = DataSet.load(files[0])
        _check_instances(split, data, files[0])
        return data
    pairs = zip(files, split.instances, strict=True)
    return join(read_state_text(file, instance) for file, instance in pairs)


def _check_instances(split: Split, data: DataSet, file: Path) -> None:
    wanted = [(one.domain.text, one.text, one.source) for one in split.instances]
    given = [(data.domain, one["pddl"]) for one in data.instances]
    if len(wanted) != len(given):
        raise InputError(
            f"{shown(file)} holds states of {len(given)} instances and the split {split.name} has "
            f"{len(wanted)}; give the states of these instances."
        )
    for (domain, text, source), (own_domain, own_text) in zip(wanted, given, strict=True):
        if (domain, text) != (own_domain, own_text):
            raise InputError(
                f"{shown(file)} holds states of another instance than {shown(source)}; give the states of "
                "these instances, or leave the problem out."
            )


def digest(split: Split) -> str:
    """A hash of the files, whatever their folder."""
    found = hashlib.sha256()
    for file in split.states or ():
        try:
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise InputError(f"Cannot read {shown(file)}: {error.strerror or error}.") from error
    return found.hexdigest()[:32]
