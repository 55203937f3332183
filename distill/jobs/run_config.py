"""What a run is made from: one YAML file says it all."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from distill.errors import InputError
from distill.jobs.config import (
    SOURCE,
    Document,
    Place,
    check_names,
    check_source,
    is_class_file,
    located,
    read_entries,
    read_yaml,
    splits_of,
)
from distill.planning import Split
from distill.settings import (
    Architecture,
    Distillation,
    Export,
    Labelling,
    Measurement,
    Settings,
    Training,
    meant,
)

SECTIONS: Mapping[str, type[Settings]] = {
    "labelling": Labelling,
    "network": Architecture,
    "training": Training,
    "distillation": Distillation,
    "evaluation": Measurement,
    "export": Export,
}
FILES = {"checkpoint": "The file of a trained network."}
"""The entries that name files."""
TRAINED = ("network", "training")
"""The sections that stand in for a checkpoint."""
_SETTINGS = [f"{section}.{name}" for section, kind in SECTIONS.items() for name in kind.names()]


def about(source: Mapping[str, Any]) -> str:
    """What a run is about, in a word: its problem class, or its PDDL's file or folder.

    Examples
    --------
    >>> about({"problem": "gripper"}), about({"domain": "ferry/domain.pddl"})
    ('gripper', 'ferry')
    """
    path = Path(source.get("problem") or source.get("domain", ""))
    return path.parent.name if path.name == "domain.pddl" and path.parent.name else path.stem


@dataclass(frozen=True)
class RunConfig:
    """What to distil, on which states, and how.

    Attributes
    ----------
    source : `problem`, or `domain` with `instances` or with `train`, `validation` and `test`.
    checkpoint : the network's file; none where one is trained, or where features come from no network.
    network, training : how a network is trained, if there is no checkpoint.
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
        changes : what the user wants to be different; see `with_settings`.
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
        folder : what paths in it are relative to.
        place : says in messages where an entry, or a section and a setting, stands.
        changes : what the user wants to be different; see `with_settings`.

        Examples
        --------
        >>> content = {"problem": "gripper", "distillation": {"pool": "enumerate", "seed": 1}}
        >>> RunConfig.from_mapping(content, Path(), lambda *keys: "an example").distillation.seed
        1
        """
        return Draft.of(content, folder, place).asked(changes or {}).config()

    def with_settings(self, changes: Mapping[str, Any]) -> "RunConfig":
        """The config with some entries and settings as the user wants them.

        Parameters
        ----------
        changes : values by `section.setting`, entry, section, or bare name of a setting of the distillation;
            none removes what is there. Paths are relative to the working directory.

        Examples
        --------
        >>> config = RunConfig({"problem": "gripper"}, distillation=Distillation(pool="enumerate"))
        >>> changed = config.with_settings({"seed": 3, "training.epochs": 5})
        >>> changed.distillation.seed, changed.training.epochs
        (3, 5)
        """
        return Draft.of(self.to_mapping(), Path(), lambda *keys: "The config").asked(changes).config()

    def splits(self) -> list[Split]:
        """The splits to learn from and to be measured on."""
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
        """The config with all defaults and whole paths, so that it makes the same run from anywhere."""
        whole: dict[str, Any] = {key: _whole(key, value, Path()) for key, value in self.source.items()}
        if self.checkpoint is not None:
            whole["checkpoint"] = str(self.checkpoint.resolve())
        if self.labelling:
            whole["labelling"] = dict(self.labelling)
        for name in ("network", "training", "distillation", "evaluation", "export"):
            section = getattr(self, name)
            if section is not None:
                whole[name] = section.to_mapping()
        return whole


@dataclass(frozen=True)
class Draft:
    """A config whose values are still to be checked, so that some can be changed before.

    Attributes
    ----------
    content : its entries, with whole paths.
    place : says in messages where an entry, or a section and a setting, stands.
    """

    content: Mapping[str, Any]
    place: Place

    @staticmethod
    def of(content: Mapping[str, Any], folder: Path, place: Place) -> "Draft":
        """Take entries whose paths are relative to a folder; all names must be known."""
        check_names(content, SECTIONS, FILES, place)
        return Draft({entry: _whole(entry, value, folder) for entry, value in content.items()}, place)

    def changed(self, changes: Mapping[str, Any], folder: Path, place: Place) -> "Draft":
        """The draft with other values; see `RunConfig.with_settings`.

        Parameters
        ----------
        folder : what paths among the changes are relative to.
        place : says in messages where a change, or a part of its value, stands.
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
                inside[name] = value if len(path) > 1 else _whole(name, value, folder)

        def said(*names: str) -> str:
            for path in reversed(keys):
                if names[: len(path)] == path:
                    return place(keys[path], *names[len(path) :])
            return self.place(*names)

        return Draft(content, said)

    def asked(self, changes: Mapping[str, Any]) -> "Draft":
        """The draft as the user of a command wants it."""
        return self.changed(changes, Path(), lambda *keys: "The options")

    def config(self) -> RunConfig:
        """The config, all of it checked."""
        source, found, files = read_entries(self.content, SECTIONS, FILES, Path(), self.place)
        check_source(source, self.place())
        trained = [name for name in TRAINED if name in found]
        if files and trained:
            raise InputError(
                f"{self.place('checkpoint')}: a checkpoint stands beside {' and '.join(trained)}; name a "
                "trained network or say how to train one, not both."
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
    if len(path) > 1 and isinstance(value, str) and isinstance(getattr(SECTIONS[path[0]](), path[1]), tuple):
        value = [name.strip() for name in value.split(",")]
    return ".".join(path), value


def key_path(key: str, source: str) -> tuple[str, ...]:
    """The entry, or the section and the setting, that a key of a change means.

    Parameters
    ----------
    source : where the key stands, for messages.

    Examples
    --------
    >>> key_path("problem", "an example"), key_path("linkage", "an example")
    (('problem',), ('distillation', 'linkage'))
    >>> key_path("distillation.linkage", "an example")
    ('distillation', 'linkage')
    """
    section, dot, name = key.partition(".")
    if dot and section in SECTIONS:
        SECTIONS[section].check_names([name], source, section)
        return section, name
    if key in Distillation.names():
        return "distillation", key
    known = (*SOURCE, *FILES, *SECTIONS)
    if key not in known:
        hint = meant(key, [*known, *Distillation.names(), *_SETTINGS])
        if hint.startswith("choose"):
            hint = f"choose one of {', '.join(known)}, or write SECTION.SETTING."
        raise InputError(f"{source}: there is no entry or setting {key}; {hint}")
    return (key,)


def _whole(entry: str, value: Any, folder: Path) -> Any:
    """The value of an entry, with a whole path if it is one."""
    if entry in SECTIONS or not isinstance(value, str) or not value:
        return value
    found = located(entry, value, folder)
    if entry == "problem" and not (is_class_file(found) and Path(found).is_file()):
        return found
    return str(Path(found).resolve())
