"""Checkpoints: a network with what is known of it, in our format or read from another."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from distill import __version__
from distill.errors import InputError
from distill.models.foreign import build_network, read_foreign
from distill.models.network import Network
from distill.models.tensors import read_tensors, write_tensors
from distill.settings import Architecture
from distill.structures import Vocabulary

KIND = "network"
OUR_FORMAT = "distill"
SUFFIX = ".safetensors"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A network and its record.

    A file of ours is a safetensors file. Its header holds JSON: `vocabulary` (name, arity and role of each
    predicate, in the order of the tensors `messages.0`, `messages.1`, …), `architecture` and `record`.

    Attributes
    ----------
    network : ready to be run.
    record : what is known of it: how it was trained, on what, and how well it does.
    source : the format it was read from.
    """

    network: Network
    record: Mapping[str, Any] = field(default_factory=dict)
    source: str = OUR_FORMAT

    @cached_property
    def key(self) -> str:
        """A name for what the network computes: equal weights and architecture, equal name."""
        digest = hashlib.sha256(json.dumps(self._described(), sort_keys=True).encode())
        for name, value in sorted(self.network.state_dict().items()):
            digest.update(name.encode() + value.numpy().tobytes())
        return digest.hexdigest()[:32]

    @property
    def n_parameters(self) -> int:
        """How many numbers were trained."""
        return sum(value.numel() for value in self.network.parameters())

    def save(self, path: Path) -> None:
        """Write our format, whole or not at all."""
        metadata = {
            "kind": KIND,
            "version": __version__,
            "key": self.key,
            **self._described(),
            "record": dict(self.record),
        }
        write_tensors(path, self.network.state_dict(), metadata)

    @staticmethod
    def load(path: Path) -> "Checkpoint":
        """Read a checkpoint of ours, or of one of the formats in `distill.models.foreign`.

        Nothing in the file is ever executed.
        """
        if path.suffix != SUFFIX:
            network, source = read_foreign(path)
            return Checkpoint(network, {}, source)
        tensors, metadata = read_tensors(path, KIND)
        try:
            vocabulary = Vocabulary.from_json(metadata["vocabulary"])
            architecture = Architecture.from_mapping(metadata["architecture"], str(path))
            found = Checkpoint(build_network(vocabulary, architecture, tensors), metadata["record"])
            if metadata.get("key", found.key) != found.key:
                raise InputError("its weights are not those that were written; make it again.")
            return found
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path} lacks what a checkpoint has ({error!r}); make it again.") from error

    def _described(self) -> dict[str, Any]:
        return {
            "vocabulary": self.network.vocabulary.to_json(),
            "architecture": self.network.architecture.to_mapping(),
        }
