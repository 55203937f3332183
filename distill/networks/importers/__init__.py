"""Checkpoints of other projects. A new format is a function to `Parts` and an entry in `FORMATS`."""

from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from distill.common import InputError
from distill.networks.importers.kr22 import read_kr22
from distill.networks.importers.parts import Content, Parts, assemble
from distill.networks.importers.pymimir_rgnn import (
    read_pymimir_rgnn_01,
    read_pymimir_rgnn_02,
    read_rnn_python,
)
from distill.networks.importers.unpickling import unpickle
from distill.networks.rgnn import RGNN

FORMATS: Mapping[str, tuple[set[str], Callable[[Content], Parts]]] = {
    "gnn-policy-kr22": ({"state_dict", "hyper_parameters"}, read_kr22),
    "relational-neural-network-python": ({"model", "hparams"}, read_rnn_python),
    "pymimir-rgnn 0.1": ({"model", "config"}, read_pymimir_rgnn_01),
    "pymimir-rgnn 0.2": ({"model", "hparam_config"}, read_pymimir_rgnn_02),
}
"""For each format the keys by which it is recognised, and the function that reads its parts."""


def read_foreign(path: Path) -> tuple[RGNN, str]:
    """Read a network from a file of one of `FORMATS`; also the name of the format."""
    content = unpickle(path)
    for name, (keys, read_parts) in FORMATS.items():
        if isinstance(content, dict) and keys <= set(content):
            try:
                return assemble(read_parts(content)), name
            except InputError as error:
                raise InputError(f"{path} ({name}): {error}") from error
            except ValidationError as error:
                fault = error.errors()[0]
                reason = f"{fault['loc'][0]}: {fault['msg'][0].lower()}{fault['msg'][1:]}"
                raise InputError(
                    f"{path} ({name}): a setting is not valid ({reason}); give another file."
                ) from error
            except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
                raise InputError(
                    f"{path} has the format {name}, but parts are missing ({error!r}); give another file."
                ) from error
    raise InputError(f"{path} has no known format; known are our own and {', '.join(FORMATS)}.")
