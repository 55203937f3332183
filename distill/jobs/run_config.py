"""The config of a run: one YAML file with all inputs and settings."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from distill.common import InputError, did_you_mean, read_yaml
from distill.distillation import Distillation
from distill.evaluation import Measurement
from distill.jobs.config import (
    SOURCE,
    Document,
    Place,
    check_names,
    check_source,
    is_class_file,
    read_entries,
    resolve_entry,
    splits_of,
)
from distill.networks import Architecture, Training
from distill.planning import Labelling, Split
from distill.runs import SECTIONS, Export, variants

FILES = {"checkpoint": "The file of a trained network."}
"""The entries that name files."""
TRAINED = ("network", "training")
"""The sections that replace a checkpoint."""


def setting_names(section: str) -> list[str]:
    """The names of all settings of a section, of every family of networks."""
    return list(dict.fromkeys(name for kind in variants(section) for name in kind.names()))


@dataclass(frozen=True)
class RunConfig:
    """What to distil, on which states, and how.

    Attributes
    ----------
    source : `problem`, or `domain` with `instances` or with `train`, `validation` and `test`.
    checkpoint : the file of the network; None if one is trained, or if features come from no network.
    network, training : the settings of a network to train, without a checkpoint.
    labelling : settings that override those of the problem class.
    distillation, evaluation, export : the settings of the later stages.
    """

    source: Mapping[str, str]
    checkpoint: Path | None = None
    network: Architecture | None = None
    training: Training | None = None
    labelling: Mapping[str, Any] = field(default_factory=dict)
    distillation: Distillation = field(default_factory=Distillation)
    evaluation: Measurement = field(default_factory=Measurement)
    export: Export = field(default_factory=Export)

    @staticmethod
    def read(path: Path, changes: Mapping[str, Any] | None = None) -> "RunConfig":
        """Read a YAML file; paths in it are relative to it.

        Parameters
        ----------
        changes : changes by the user; see `with_settings`.
        """
        document = Document.read(path)
        return RunConfig.from_mapping(document.content, path.parent, document.place, changes)

    @staticmethod
    def from_mapping(
        content: Mapping[str, Any], folder: Path, place: Place, changes: Mapping[str, Any] | None = None
    ) -> "RunConfig":
        """Check the content of a config.

        Parameters
        ----------
        folder : the folder of relative paths.
        place : names the position of an entry or a setting in messages.
        changes : changes by the user; see `with_settings`.

        Examples
        --------
        >>> content = {"problem": "gripper", "distillation": {"pool": "enumerate", "seed": 1}}
        >>> RunConfig.from_mapping(content, Path(), lambda *keys: "an example").distillation.seed
        1
        """
        return Draft.of(content, folder, place).with_options(changes or {}).config()

    def with_settings(self, changes: Mapping[str, Any]) -> "RunConfig":
        """The config with some entries and settings changed.

        Parameters
        ----------
        changes : values by `section.setting`, entry, section, or bare name of a setting of the distillation;
            None removes a value. Paths are relative to the working directory.

        Examples
        --------
        >>> config = RunConfig({"problem": "gripper"}, distillation=Distillation(pool="enumerate"))
        >>> changed = config.with_settings({"seed": 3, "training.epochs": 5})
        >>> changed.distillation.seed, changed.training.epochs
        (3, 5)
        """
        return Draft.of(self.to_mapping(), Path(), lambda *keys: "The config").with_options(changes).config()

    def splits(self) -> list[Split]:
        """The splits to learn from and to evaluate on."""
        found = splits_of(self.source, "The config")
        if "train" not in {split.name for split in found}:
            raise InputError("There are no training instances to distil on; give some.")
        return [
            replace(
                split,
                labelling=Labelling.from_mapping(
                    {**split.labelling.to_mapping(), **self.labelling}, "labelling"
                ),
            )
            for split in found
        ]

    def to_mapping(self) -> dict[str, Any]:
        """The config with all defaults and absolute paths, valid in every working directory."""
        whole: dict[str, Any] = {key: _absolute(key, value, Path()) for key, value in self.source.items()}
        if self.checkpoint is not None:
            whole["checkpoint"] = os.path.realpath(self.checkpoint)
        if self.labelling:
            whole["labelling"] = dict(self.labelling)
        for name in ("network", "training", "distillation", "evaluation", "export"):
            section = getattr(self, name)
            if section is not None:
                whole[name] = section.to_mapping()
        return whole


@dataclass(frozen=True)
class Draft:
    """A config before its values are checked, so that some can be changed first.

    Attributes
    ----------
    content : its entries, with absolute paths.
    place : names the position of an entry or a setting in messages.
    """

    content: Mapping[str, Any]
    place: Place

    @staticmethod
    def of(content: Mapping[str, Any], folder: Path, place: Place) -> "Draft":
        """A draft from entries with paths relative to a folder; all names must be known."""
        check_names(content, SECTIONS, FILES, place)
        return Draft({entry: _absolute(entry, value, folder) for entry, value in content.items()}, place)

    def with_changes(self, changes: Mapping[str, Any], folder: Path, place: Place) -> "Draft":
        """The draft with other values; see `RunConfig.with_settings`.

        Parameters
        ----------
        folder : the folder of relative paths among the changes.
        place : names the position of a change, or of a part of its value, in messages.
        """
        content = dict(self.content)
        keys = {key_path(key, place(key)): key for key in changes}
        for path, key in keys.items():
            inside, name, value = content, path[-1], changes[key]
            if len(path) > 1:
                inside = content[path[0]] = dict(content.get(path[0]) or {})
            elif name in SECTIONS and not isinstance(value, Mapping | None):
                raise InputError(f"{place(key)}: {name} must hold settings by name, not {value!r}.")
            if value is None:
                inside.pop(name, None)
            else:
                inside[name] = value if len(path) > 1 else _absolute(name, value, folder)

        def position(*names: str) -> str:
            for path in reversed(keys):
                if names[: len(path)] == path:
                    return place(keys[path], *names[len(path) :])
            return self.place(*names)

        return Draft(content, position)

    def with_options(self, changes: Mapping[str, Any]) -> "Draft":
        """The draft with the options of a command."""
        return self.with_changes(changes, Path(), lambda *keys: "The options")

    def config(self) -> RunConfig:
        """The checked config."""
        source, found, files = read_entries(self.content, SECTIONS, FILES, Path(), self.place)
        check_source(source, self.place())
        trained = [name for name in TRAINED if name in found]
        if files and trained:
            raise InputError(
                f"{self.place('checkpoint')}: a checkpoint excludes {' and '.join(trained)}; give either "
                "a trained network or the settings to train one."
            )
        if trained:
            found = {name: SECTIONS[name]() for name in TRAINED} | found
        elif not files and found.get("distillation", Distillation()).pool != "enumerate":
            raise InputError(f"{self.place()} must name a checkpoint, or a network to train.")
        if "labelling" in found:
            given = self.content["labelling"] or {}
            values = found["labelling"].to_mapping()
            found["labelling"] = {name: value for name, value in values.items() if name in given}
        return RunConfig(source, files.get("checkpoint"), **found)


def parse_override(text: str) -> tuple[str, Any]:
    """A change to a config from `KEY=VALUE`; the value is YAML, a list of names may go without brackets.

    Examples
    --------
    >>> parse_override("seed=3")
    ('distillation.seed', 3)
    >>> parse_override("export.formats=ascii,json")
    ('export.formats', ['ascii', 'json'])
    """
    key, sign, given = text.partition("=")
    if not sign or not given.strip():
        raise InputError(f"--set {text} must look like KEY=VALUE.")
    path = key_path(key.strip(), "--set")
    value, _ = read_yaml(given, lambda line: f"--set {text}")
    if len(path) > 1 and isinstance(value, str) and _is_list(*path):
        value = [name.strip() for name in value.split(",")]
    return ".".join(path), value


def key_path(key: str, source: str) -> tuple[str, ...]:
    """The entry, or the section and the setting, of a key.

    Parameters
    ----------
    source : the position of the key, for messages.

    Examples
    --------
    >>> key_path("problem", "an example"), key_path("linkage", "an example")
    (('problem',), ('distillation', 'linkage'))
    >>> key_path("distillation.linkage", "an example")
    ('distillation', 'linkage')
    """
    section, dot, name = key.partition(".")
    if dot and section in SECTIONS:
        if name not in setting_names(section):
            SECTIONS[section].check_names([name], source, section)
        return section, name
    if key in Distillation.names():
        return "distillation", key
    known = (*SOURCE, *FILES, *SECTIONS)
    if key not in known:
        full = [f"{section}.{name}" for section in SECTIONS for name in setting_names(section)]
        hint = did_you_mean(key, [*known, *Distillation.names(), *full])
        if hint.startswith("choose"):
            hint = f"choose one of {', '.join(known)}, or write SECTION.SETTING."
        raise InputError(f"{source}: there is no entry or setting {key}; {hint}")
    return (key,)


def _is_list(section: str, name: str) -> bool:
    fields = (kind.model_fields.get(name) for kind in variants(section))
    return any(item is not None and isinstance(item.default, tuple) for item in fields)


def _absolute(entry: str, value: Any, folder: Path) -> Any:
    """The value of an entry; a path becomes absolute."""
    if entry in SECTIONS or not isinstance(value, str) or not value:
        return value
    found = resolve_entry(entry, value, folder)
    if entry == "problem" and not (is_class_file(found) and Path(found).is_file()):
        return found
    return os.path.realpath(found)
