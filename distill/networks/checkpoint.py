"""Checkpoints: a network with its record, in our format or imported from another."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from distill import __version__
from distill.common import InputError, shown
from distill.networks.families import family_named
from distill.networks.importers import read_foreign
from distill.networks.network import Network
from distill.networks.settings import DEFAULT_FAMILY
from distill.networks.tensors import read_tensors, write_tensors
from distill.structures import Vocabulary

KIND = "network"
OUR_FORMAT = "distill"
SUFFIX = ".safetensors"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A network and its record.

    A file of ours is a safetensors file. Its header holds JSON: `vocabulary` (name, arity and role of each
    predicate, in the order of the tensors `messages.0`, `messages.1`, …), `architecture`, `record` and,
    unless it is `rgnn`, `family`.

    Attributes
    ----------
    network : in evaluation mode.
    record : its training settings, training data and scores.
    source : the format of its file.
    """

    network: Network
    record: Mapping[str, Any] = field(default_factory=dict)
    source: str = OUR_FORMAT

    @cached_property
    def key(self) -> str:
        """A key of weights and architecture: equal networks have equal keys."""
        digest = hashlib.sha256(json.dumps(self.description, sort_keys=True).encode())
        for name, value in sorted(self.network.state_dict().items()):
            digest.update(name.encode() + value.numpy().tobytes())
        return digest.hexdigest()[:32]

    @property
    def n_parameters(self) -> int:
        """The number of trainable parameters."""
        return sum(value.numel() for value in self.network.parameters())

    def save(self, path: Path) -> None:
        """Write our format, whole or not at all."""
        metadata = {
            "kind": KIND,
            "version": __version__,
            "key": self.key,
            **self.description,
            "record": dict(self.record),
        }
        write_tensors(path, self.network.state_dict(), metadata)

    @staticmethod
    def load(path: Path) -> "Checkpoint":
        """Read a checkpoint of ours, or of one of the formats in `distill.networks.importers`.

        No code in the file is executed.
        """
        if path.suffix != SUFFIX:
            foreign, source = read_foreign(path)
            foreign.origin = shown(path)
            return Checkpoint(foreign, {}, source)
        tensors, metadata = read_tensors(path, KIND)
        try:
            if not isinstance(metadata["record"], dict) or not isinstance(metadata["architecture"], dict):
                raise TypeError("its record or architecture has no entries by name")
            vocabulary = Vocabulary.from_json(metadata["vocabulary"])
            family = family_named(metadata.get("family", DEFAULT_FAMILY))
            settings = family.settings.from_mapping(metadata["architecture"], str(path))
            network = family.read(vocabulary, settings, tensors)
            network.origin = shown(path)
            checkpoint = Checkpoint(network, metadata["record"])
            if metadata.get("key", checkpoint.key) != checkpoint.key:
                raise InputError("its weights do not match its key; make it again.")
            return checkpoint
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise InputError(f"{path} is an incomplete checkpoint ({error!r}); make it again.") from error

    @property
    def description(self) -> dict[str, Any]:
        """Family, vocabulary and architecture as plain data."""
        family = self.network.family
        return {
            **({} if family == DEFAULT_FAMILY else {"family": family}),
            "vocabulary": self.network.vocabulary.to_json(),
            "architecture": self.network.settings.to_mapping(),
        }
