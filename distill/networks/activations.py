"""Replay: the activations of a network on the rows of a quotient."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor

from distill.networks.execution import check_finite, evaluate, run_representatives
from distill.networks.network import Activations, Array, Network, Site
from distill.structures import Quotient, Structures, read_archive, write_archive

KIND = "replay"


class Replay(Activations[Array]):
    """A network's activations on a quotient, in single precision.

    A site about objects has (n_rows at its depth, k): beyond the last depth of a stable quotient the rows are
    those of its last layer. A site about states has (n_state_rows, k).
    """

    def save(self, path: Path) -> None:
        """Write the replay to one file (see `distill.structures.archive`)."""
        arrays = {site.name: table for site, table in self.sites.items()}
        write_archive(path, arrays, {"kind": KIND, "sites": [asdict(site) for site in self.sites]})

    @staticmethod
    def load(path: Path) -> "Replay":
        """Read a replay that `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        sites = [Site(**site) for site in metadata["sites"]]
        return Replay({site: arrays[site.name] for site in sites})


def replay(network: Network, quotient: Quotient) -> Replay:
    """Run a network on a quotient.

    A network that lifts computes each row once. Others run one representative of each state row and keep one
    object of each row. Both give the same activations.

    Parameters
    ----------
    quotient : of structures over a vocabulary that includes the network's, with multisets. It is stable, or
        at least as deep as the network's bound.
    """
    with torch.no_grad():
        if network.lifts:
            sites = network.lifted(quotient)
            check_finite(network, {site.name: table for site, table in sites.items()})
            return Replay(sites)

        def run(batch: Structures, _: slice) -> Mapping[Site, Tensor]:
            return evaluate(network, batch).sites

        return Replay(run_representatives(quotient, network.sites, run, whole=network.whole_batch))
