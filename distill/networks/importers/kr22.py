"""Checkpoints of gnn-policy-kr22."""

from distill.networks.importers.parts import Content, Parts
from distill.networks.settings import Architecture


def read_kr22(content: Content) -> Parts:
    """The parts of a checkpoint of gnn-policy-kr22."""
    tensors, options = content["state_dict"], content["hyper_parameters"]
    network = "model.relation_network"
    relations = {
        name: f"{network}.relation_modules.{number}"
        for number, (name, _) in enumerate(options["predicates"])
        if f"{network}.relation_modules.{number}.0.weight" in tensors
    }
    size = tensors[f"{network}.update.2.weight"].shape[0]
    architecture = Architecture(
        layers=int(options["iterations"]),
        nullary=False,
        smoothness=8.0,
        floor="batch",
        activation="relu",
        message_residual=False,
        update_residual=False,
        update_order="aggregate",
        random_initial=size // 2,
        readout="two-part",
        readout_activation="relu",
        absolute=True,
    )
    pieces = {"update": f"{network}.update", "first_readout": "readout.pre", "readout": "readout.post"}
    ignored = ("model.dummy", f"{network}.dummy", "readout.dummy", "solvable_readout.")
    return Parts(tensors, architecture, relations, pieces, ("0", "2"), ignored)
