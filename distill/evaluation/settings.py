"""The settings of an evaluation."""

from distill.common import Settings, setting


class Measurement(Settings):
    """The greedy execution in the evaluation of a value function."""

    max_steps: int = setting(1000, "Largest number of greedy steps; 0 executes no policy.")
