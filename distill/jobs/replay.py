"""Replays of checkpoints on labelled states, kept by content."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from distill.errors import InputError
from distill.jobs.quotient import build_quotient_of
from distill.models import Checkpoint, Replay, check_vocabulary, replay
from distill.planning import DataSet
from distill.planning.cache import cache_folder, content_key
from distill.structures import Options, Quotient


@dataclass(frozen=True, eq=False)
class Replayed:
    """A replay with its quotient and the files that hold them.

    Attributes
    ----------
    quotient : of all sets; the split of a state row is the position of its set.
    replay : the network's activations on its rows.
    quotient_file, replay_file : where they are kept.
    """

    quotient: Quotient
    replay: Replay
    quotient_file: Path
    replay_file: Path


def replay_of(
    checkpoint: Checkpoint,
    sets: Mapping[str, DataSet],
    *,
    depth: int | None = None,
    joint: bool = False,
    cache: Path | None = None,
) -> Replayed:
    """Replay a checkpoint on labelled states, or take the replay from the cache.

    Parameters
    ----------
    sets : labelled states by split.
    depth : of the quotient; as deep as the network has layers if left out.
    joint : whether all atoms over one pair of objects form one message in the quotient.
    cache : the folder that keeps results; see `cache_folder`.
    """
    network = checkpoint.network
    for data in sets.values():
        check_vocabulary(network, data.vocabulary)
    if not any(len(data) for data in sets.values()):
        raise InputError("There are no labelled states to run the network on; label some first.")
    options = Options(joint=joint)
    marking = network.architecture.goal_marking
    levels = network.architecture.layers if depth is None else depth
    states = {name: data.key for name, data in sets.items()}
    key = content_key([list(states.items()), levels, asdict(options), marking])
    folder = cache or cache_folder()
    quotient_file = folder / "quotients" / f"{key}.npz"
    replay_file = folder / "replays" / f"{content_key([key, checkpoint.key])}.npz"
    try:
        quotient = Quotient.load(quotient_file)
    except InputError:
        quotient = build_quotient_of(sets, levels, options, goal_marking=marking).quotient
        quotient.save(quotient_file)
    try:
        found = Replay.load(replay_file)
    except InputError:
        found = replay(network, quotient)
        found.save(replay_file)
    return Replayed(quotient, found, quotient_file, replay_file)
