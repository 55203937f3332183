"""The settings of a classification of graphs."""

from distill.common import Settings, setting


class Classification(Settings):
    """How graphs are classified by an IDT (thesis 3.1, Algorithm 2), with or without a network."""

    folds: int = setting(10, "Parts of the cross-validation.", least=2, most=1000)
    layers: int = setting(3, "Layers of the network and of the IDT.", least=1, most=100)
    size: int = setting(8, "Dimension of a node's embedding.", least=1, most=1024)
    epochs: int = setting(20, "Largest number of epochs of 30 batches of 64 graphs.", least=1, most=10_000)
    width: int = setting(8, "Trees of each layer (w of Algorithm 2).", least=1, most=1000)
    sample: int = setting(
        100, "Graphs whose nodes are drawn for each tree of a layer (s of Algorithm 2).", least=1
    )
    depth: int = setting(2, "Largest depth of the trees of a layer.", least=1, most=20)
    final_depth: int = setting(2, "Largest depth of the final tree.", least=1, most=20)
