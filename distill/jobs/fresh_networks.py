"""Fresh networks: settings that were tuned on some networks are evaluated on others."""

from distill.common import InputError
from distill.jobs.run_config import RunConfig

NETWORK, SEED = "training.seed", "distillation.seed"
FIRST = 100  # the first seed of fresh networks; included networks have smaller seeds


def fresh_networks(config: RunConfig, networks: int, first: int = FIRST) -> dict[int, RunConfig]:
    """Configs that train networks with other seeds, by the first seed of each.

    Parameters
    ----------
    config : the settings of the training; each network is the best of as many seeds as in this config.
    networks : the number of networks.
    first : the first seed.

    Examples
    --------
    >>> config = RunConfig({"problem": "gripper"}).with_settings({"training.seeds": 2})
    >>> list(fresh_networks(config, 3))
    [100, 102, 104]
    """
    if networks < 1:
        raise InputError(f"There must be at least 1 network, not {networks}.")
    if config.training is None:
        problem = config.source.get("problem", "the domain")
        raise InputError(
            f"The config on {problem} trains no network, but fresh ones are required; give network and "
            "training, as configs/training/gripper.yaml does, instead of a checkpoint."
        )
    step = max(1, config.training.seeds)
    seeds = range(first, first + networks * step, step)
    return {seed: config.with_settings({NETWORK: seed}) for seed in seeds}
