"""Configs: YAML files that say what to work on and how."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from distill.errors import InputError
from distill.planning import (
    SPLITS,
    Domain,
    Labelling,
    Split,
    problem_class,
    splits_by_size,
    splits_from_folders,
)
from distill.planning.pddl import read_text
from distill.settings import Settings

_FOLDERS = (*SPLITS, "instances")


def read_config(
    path: Path, sections: Mapping[str, type[Settings]], files: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, Any], dict[str, Path]]:
    """Read a config; paths in it are relative to it.

    Parameters
    ----------
    sections : the settings that it may have, by name.
    files : entries that name files.

    Returns
    -------
    Where the states come from (`problem`, or `domain` with `instances` or with folders for splits), the
    settings of each section, and the files.
    """
    try:
        content = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}; correct it.") from error
    known = {"problem", "domain", *_FOLDERS, *sections, *files}
    if not isinstance(content, dict):
        raise InputError(f"{path}: it has no entries; choose from {', '.join(sorted(known))}.")
    if unknown := sorted(map(str, set(content) - known)):
        raise InputError(
            f"{path}: there is no entry {', '.join(unknown)}; choose from {', '.join(sorted(known))}."
        )
    source = {key: str(value) for key, value in content.items() if key not in (*sections, *files)}
    for key in ("domain", *_FOLDERS):
        if key in source:
            source[key] = str(path.parent / source[key])
    found = {}
    for section, kind in sections.items():
        given = content.get(section) or {}
        if not isinstance(given, dict):
            raise InputError(f"{path}: {section} must hold settings by name, not {given!r}.")
        found[section] = kind.from_mapping(given, f"{path}, {section}")
    return source, found, {key: path.parent / str(content[key]) for key in files if key in content}


def splits_of(source: Mapping[str, str], asker: str) -> list[Split]:
    """The splits of a problem class or of PDDL files.

    Parameters
    ----------
    source : `problem`, or `domain` with `instances` or with `train`, `validation` and `test`.
    asker : who says so, for messages.
    """
    folders = {name: Path(source[name]) for name in SPLITS if name in source}
    if "problem" in source and len(source) > 1:
        raise InputError(f"{asker} must name either a problem or a domain with instances, not both.")
    if "instances" in source and folders:
        raise InputError(f"{asker} must give either instances or folders for the splits, not both.")
    if "problem" in source:
        declared = problem_class(source["problem"])
        return [declared.split(name) for name in SPLITS if name in declared.splits]
    if "domain" not in source:
        raise InputError(f"{asker} must name a problem, or a domain with instances.")
    domain = Domain.read(Path(source["domain"]))
    if "instances" in source:
        return splits_by_size(domain, Path(source["instances"]), Labelling())
    return splits_from_folders(domain, folders, Labelling())
