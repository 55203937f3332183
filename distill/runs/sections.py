"""The sections of a run's config, with their settings."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from distill.common import InputError, Settings, did_you_mean
from distill.distillation import Distillation
from distill.evaluation import Measurement
from distill.networks import DEFAULT_FAMILY, FAMILY_SETTINGS, Training
from distill.planning import Labelling
from distill.runs.settings import Export

Place = Callable[..., str]
SECTIONS: Mapping[str, type[Settings]] = {
    "labelling": Labelling,
    "network": FAMILY_SETTINGS[DEFAULT_FAMILY],
    "training": Training,
    "distillation": Distillation,
    "evaluation": Measurement,
    "export": Export,
}


def variants(section: str) -> list[type[Settings]]:
    """The groups of settings of a section: one, or one for each family of networks.

    Examples
    --------
    >>> [kind.__name__ for kind in variants("training")]
    ['Training']
    """
    return list(FAMILY_SETTINGS.values()) if section == "network" else [SECTIONS[section]]


def with_family(
    content: Mapping[str, Any], sections: Mapping[str, type[Settings]], place: Place
) -> Mapping[str, type[Settings]]:
    """The sections of a config, with the settings of the network family that the config names.

    Examples
    --------
    >>> with_family({"network": {"family": "rgnn"}}, {}, "{}".format)["network"].__name__
    'Architecture'
    """
    network = content.get("network")
    family = network.get("family") if isinstance(network, Mapping) else None
    if not isinstance(family, str):
        return sections
    if family not in FAMILY_SETTINGS:
        hint = did_you_mean(family, FAMILY_SETTINGS)
        raise InputError(f"{place('network', 'family')}: there is no family {family} of networks; {hint}")
    return {**sections, "network": FAMILY_SETTINGS[family]}


def problem_name(source: Mapping[str, Any]) -> str:
    """The name of a problem class, or of the file or folder of a PDDL domain.

    Examples
    --------
    >>> problem_name({"problem": "gripper"}), problem_name({"domain": "ferry/domain.pddl"})
    ('gripper', 'ferry')
    """
    path = Path(source.get("problem") or source.get("domain", ""))
    return path.parent.name if path.name == "domain.pddl" and path.parent.name else path.stem
