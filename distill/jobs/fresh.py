"""Fresh networks: what was tuned on some networks is judged on others."""

from distill.errors import InputError
from distill.jobs.run_config import RunConfig

NETWORK, SEED = "training.seed", "distillation.seed"
FIRST = 100  # the first seed of fresh networks; those that come along were trained with the first few


def fresh_networks(config: RunConfig, networks: int, first: int = FIRST) -> dict[int, RunConfig]:
    """Configs that train networks from other seeds, by the first seed of each.

    Parameters
    ----------
    config : says how to train; where it takes the best of several seeds, so does each of these.
    networks : how many.
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
        about = config.source.get("problem", "the domain")
        raise InputError(
            f"The config on {about} trains no network, but fresh ones are asked for; give network and "
            "training, as configs/gripper.yaml does, instead of a checkpoint."
        )
    apart = max(1, config.training.seeds)
    seeds = [first + number * apart for number in range(networks)]
    return {seed: config.with_settings({NETWORK: seed}) for seed in seeds}
