"""The settings of a run's folder."""

from typing import Literal

from distill.common import Settings, SomeNames, setting


class Export(Settings):
    """What a run's folder holds besides its data."""

    formats: SomeNames[
        Literal["ascii", "emlc", "c2", "english", "latex", "latex-c2", "dlplan", "pddl", "python", "json"]
    ] = setting(
        ("ascii", "emlc", "c2", "english", "latex", "dlplan", "pddl", "python"),
        "The forms in which the value function is written.",
    )
    report: bool = setting(True, "Write a report, one HTML file that needs nothing else.")
