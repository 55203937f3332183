"""All activations of a network on labelled states, by layer, object and state."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.networks.activations import Replay, replay
from distill.networks.checkpoint import Checkpoint
from distill.networks.state_values import quotient_for
from distill.structures import DataSet, Options, write_archive
from distill.symmetry import QuotientMap

KIND = "activations"


@dataclass(frozen=True, eq=False)
class StateActivations:
    """A replay, and the row of each labelled state and object.

    Attributes
    ----------
    checkpoint : the network.
    sets : labelled states by split.
    built : their quotient; the split of a state row is the position of its set.
    replay : the network's activations on its rows.
    """

    checkpoint: Checkpoint
    sets: Mapping[str, DataSet]
    built: QuotientMap
    replay: Replay

    def save(self, path: Path) -> None:
        """Write all activations to one archive; `docs/networks.md` describes it."""
        names = [instance["name"] for data in self.sets.values() for instance in data.instances]
        shift = np.cumsum([0, *(len(data.instances) for data in self.sets.values())])
        arrays: dict[str, NDArray[Any]] = {
            **{site.name: table for site, table in self.replay.sites.items()},
            **{f"row/{name}": row for name, row in self._rows().items()},
            **_concatenate(_object_names(data) for data in self.sets.values()),
            **_concatenate(
                {
                    "instance": data.state_instance + shift[number],
                    "split": np.full(len(data), number),
                    "v_star": data.v_star,
                    "multiplicity": data.multiplicity,
                }
                for number, data in enumerate(self.sets.values())
            ),
            "instances": np.array(names, dtype=np.str_),
            "splits": np.array(list(self.sets), dtype=np.str_),
        }
        sizes = np.concatenate([data.n_objects[data.state_instance] for data in self.sets.values()])
        arrays["state"] = np.repeat(np.arange(len(sizes)), sizes)
        metadata = {
            "kind": KIND,
            "family": self.checkpoint.network.family,
            "key": self.checkpoint.key,
            "sites": [asdict(site) for site in self.replay.sites],
        }
        write_archive(path, arrays, metadata)

    def _rows(self) -> dict[str, NDArray[np.int64]]:
        """For each site the row of each object (n_objects,) or of each state (n_states,)."""
        encoding, deepest = self.checkpoint.network.encoding, self.built.quotient.depth
        parts = [
            self.built.rows_by_depth(encoding.structures(data, part))
            for data in self.sets.values()
            for part in data.slices()
        ]
        by_depth = [np.concatenate(rows) for rows in zip(*parts, strict=True)]
        return {
            site.name: by_depth[min(site.depth, deepest)] if site.about == "objects" else self.built.state_row
            for site in self.replay.sites
        }


def _object_names(data: DataSet) -> dict[str, NDArray[Any]]:
    names = [np.array(instance["objects"], dtype=np.str_) for instance in data.instances]
    by_state = [names[instance] for instance in data.state_instance.tolist()]
    return {"object": np.concatenate([np.zeros(0, dtype=np.str_), *by_state])}


def _concatenate(parts: Iterator[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    tables = list(parts)
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def replay_states(checkpoint: Checkpoint, sets: Mapping[str, DataSet]) -> StateActivations:
    """Replay a checkpoint on labelled states.

    Parameters
    ----------
    sets : labelled states by split.
    """
    network = checkpoint.network
    built = quotient_for(network, sets, Options())
    return StateActivations(checkpoint, sets, built, replay(network, built.quotient))
