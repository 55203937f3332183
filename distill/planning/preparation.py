"""From a split to its data set: labelled in parallel, cached by content, resumed after an interruption."""

import shutil
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from distill import __version__
from distill.common import KEY_BASE, InputError, cache_file, content_key
from distill.planning.labelling import label
from distill.planning.pddl import Instance
from distill.planning.settings import Labelling
from distill.planning.splits import Split
from distill.planning.stored_states import digest, read_states
from distill.planning.supervision import supervised
from distill.structures import DataSet, join

Progress = Callable[[int, int], None]
PLAIN_REDUCTIONS = {
    "none": "every state of every instance",
    "exact": "states that repeat an earlier one, atom by atom, are counted but not kept",
}
_PLACES = ("folder", "file")
_WORTH_KEEPING = 0.5  # seconds: after an interruption, faster instances are labelled again


def prepare(
    split: Split,
    *,
    reduce: str = "exact",
    workers: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> tuple[DataSet, Path]:
    """Label the states of a split, or load them from the cache or from the files of the split.

    Parameters
    ----------
    reduce : which states are kept, see `PLAIN_REDUCTIONS`.
    workers : the number of processes.
    cache : the folder of stored results; see `cache_folder`.
    progress : called with the number of labelled instances and of all instances.

    Returns
    -------
    The data set and its file.

    Examples
    --------
    >>> import tempfile
    >>> from distill.planning import problem_class
    >>> few = replace(split := problem_class("blocks-clear").split("train"), instances=split.instances[:3])
    >>> data, file = prepare(few, workers=1, cache=Path(tempfile.mkdtemp()))
    >>> len(data), DataSet.load(file).summary()["states"]
    (152, 152)
    """
    if reduce not in PLAIN_REDUCTIONS:
        raise InputError(f"There is no reduction {reduce!r}; choose from {', '.join(PLAIN_REDUCTIONS)}.")
    provenance = _provenance(split, reduce)
    file = cache_file("data", data_key(split, reduce), folder=cache)
    if (stored := stored_data(file)) is not None:
        return stored, file
    parts = file.with_suffix(".parts")
    # The states without a reduction may be known already.
    plain = stored_data(cache_file("data", data_key(split, "none"), folder=cache))
    if plain is not None:
        labelled = plain
    elif split.states is None:
        labelled = join(_label_all(split, workers, parts, progress))
    else:
        labelled = read_states(split)
    data = replace(labelled.distinct() if reduce == "exact" else labelled, provenance=provenance)
    data.save(file, transitions=True)
    shutil.rmtree(parts, ignore_errors=True)
    return data, file


def data_key(split: Split, reduce: str) -> str:
    """The key of a split's data set, known before labelling and independent of file locations."""
    texts = [[instance.name, instance.domain.text, instance.text] for instance in split.instances]
    return content_key([{**_provenance(split, reduce), "version": KEY_BASE}, texts])


def _provenance(split: Split, reduce: str) -> dict[str, Any]:
    """The provenance of the data, independent of file locations and of the memory of a machine."""
    settings = split.labelling.identity()
    settings.pop("memory_limit", None)
    labels = {"labelling": settings} if split.states is None else {"states": digest(split)}
    return {
        **{key: value for key, value in split.provenance.items() if key not in _PLACES},
        "split": split.name,
        **labels,
        "reduce": reduce,
        "version": __version__,
    }


def _label_all(split: Split, workers: int, parts: Path, progress: Progress | None) -> list[DataSet]:
    files = [parts / f"{number}.npz" for number in range(len(split.instances))]
    parts_by_number: list[DataSet | None] = [stored_data(file) for file in files]
    missing = [number for number, data in enumerate(parts_by_number) if data is None]
    report = progress or (lambda done, total: None)
    done = len(files) - len(missing)
    report(done, len(files))
    instances = [split.instances[number] for number in missing]
    with closing(_labelled(instances, split.labelling, workers)) as labelled:
        for position, data, seconds in labelled:
            parts_by_number[missing[position]] = data
            if seconds >= _WORTH_KEEPING:
                data.save(files[missing[position]], transitions=True)
            done += 1
            report(done, len(files))
    return [data for data in parts_by_number if data is not None]


def _labelled(
    instances: Sequence[Instance], settings: Labelling, workers: int
) -> Generator[tuple[int, DataSet, float], None, None]:
    """Position, data and seconds of each instance, in order of completion."""
    for position, (data, seconds) in supervised(
        [(_timed, (instance, settings)) for instance in instances],
        [instance.source for instance in instances],
        "labelling",
        seconds=settings.time_limit,
        memory=settings.memory_limit,
        workers=workers,
    ):
        yield position, data, seconds


def _timed(instance: Instance, settings: Labelling) -> tuple[DataSet, float]:
    begun = time.monotonic()
    data = label(instance, settings)
    return data, time.monotonic() - begun


def stored_data(file: Path) -> DataSet | None:
    """The data set in a cache file; None if the file is missing or damaged."""
    try:
        return DataSet.load(file)
    except InputError:
        return None
