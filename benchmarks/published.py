"""Figures of the thesis: Tables 5.1 to 5.6."""

SPLITS = ("train", "validation", "test")
STATES = {
    "gripper": [(46714, (8, 16), 5), (37655, (18, 20), 5), (200292, (22, 46), 5)],
    "miconic": [(42599, (3, 24), 4), (30730, (27, 33), 4), (103834, (36, 90), 4)],
    "blocks-clear": [(108503, (2, 9), 15), (47541, (10, 11), 15), (40930, (12, 17), 21)],
    "blocks-on": [(122464, (2, 9), 18), (41176, (10, 18), 22), (22290, (12, 17), 20)],
    "visitall": [(62488, (25, 49), 14), (41737, (64, 64), 18), (88350, (81, 100), 23)],
}
"""Table 5.1: for each split the number of states, of objects, and the greatest V*."""
LAYERS = {"gripper": 5, "miconic": 5, "blocks-clear": 17, "blocks-on": 17, "visitall": 20}
"""The number of layers of the networks (5.5)."""
NETWORK_ERRORS = {
    "gripper": (0.0073, 0.0069, 0.0754),
    "miconic-a": (0.0045, 0.0031, 0.0063),
    "miconic-b": (0.0024, 0.0018, 0.0043),
    "blocks-clear": (0.0020, 0.0029, 0.0170),
    "blocks-on": (0.0053, 0.0063, 0.0196),
    "visitall": (0.0068, 0.0232, 0.0390),
}
"""Tables 5.2 to 5.6: the mean absolute error of each base R-GNN on train, validation and test."""
RIDT_ERRORS = {
    "gripper": (0.0, 0.0, 0.0),
    "gripper, bad": (1.4020, 1.3297, 1.2855),
    "miconic-a": (0.0, 0.0, 0.0),
    "miconic-b": (0.0, 0.0006, 0.0053),
    "blocks-clear-a": (0.0, 0.0344, 0.1754),
    "blocks-clear-b": (0.0, 0.0213, 0.1312),
    "blocks-on": (0.0, 0.0221, 0.2314),
    "visitall-a": (0.0, 0.3168, 0.5757),
    "visitall-b": (0.0, 0.3540, 0.7657),
}
"""Tables 5.2 to 5.6: the same of each R-IDT, by the name of its config."""
