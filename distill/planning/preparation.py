"""From a split to its data set: labelled in parallel, cached by content, resumed after an interruption."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from distill import __version__
from distill.errors import InputError
from distill.planning.cache import cache_folder, content_key
from distill.planning.dataset import DataSet, join
from distill.planning.labelling import label
from distill.planning.pddl import Instance
from distill.planning.splits import Split
from distill.processes import process_pool
from distill.settings import Labelling

Progress = Callable[[int, int], None]
REDUCTIONS = {
    "none": "every state of every instance",
    "exact": "states that repeat an earlier one, atom by atom, are counted but not kept",
}
_PLACES = ("folder", "file")
_WORTH_KEEPING = 0.5  # seconds: what took less is made again after an interruption


def prepare(
    split: Split,
    *,
    reduce: str = "exact",
    workers: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> tuple[DataSet, Path]:
    """Label the states of a split, or take them from the cache.

    Parameters
    ----------
    reduce : which states are kept, see `REDUCTIONS`.
    workers : the number of processes; more than one needs the usual `if __name__ == "__main__":` in a script.
    cache : the folder that keeps results; see `cache_folder`.
    progress : called with the number of instances done and to do.

    Returns
    -------
    The data set and the file that holds it.

    Examples
    --------
    >>> import tempfile
    >>> from distill.planning import problem_class
    >>> few = replace(split := problem_class("blocks-clear").split("train"), instances=split.instances[:3])
    >>> data, file = prepare(few, workers=1, cache=Path(tempfile.mkdtemp()))
    >>> len(data), DataSet.load(file).summary()["states"]
    (152, 152)
    """
    if reduce not in REDUCTIONS:
        raise InputError(f"There is no reduction {reduce!r}; choose from {', '.join(REDUCTIONS)}.")
    origin = _origin(split, reduce)
    file = (cache or cache_folder()) / "data" / f"{data_key(split, reduce)}.npz"
    if (stored := _stored(file)) is not None:
        return stored, file
    parts = file.with_suffix(".parts")
    labelled = join(_label_all(split, workers, parts, progress))
    data = replace(labelled.distinct() if reduce == "exact" else labelled, origin=origin)
    data.save(file)
    shutil.rmtree(parts, ignore_errors=True)
    return data, file


def data_key(split: Split, reduce: str) -> str:
    """A name for what labelling a split will give, known before it is done, wherever its files are."""
    texts = [[instance.name, instance.domain.text, instance.text] for instance in split.instances]
    return content_key([_origin(split, reduce), texts])


def _origin(split: Split, reduce: str) -> dict[str, Any]:
    """How the data came about, wherever files are."""
    return {
        **{key: value for key, value in split.origin.items() if key not in _PLACES},
        "split": split.name,
        "labelling": split.labelling.to_mapping(),
        "reduce": reduce,
        "version": __version__,
    }


def _label_all(split: Split, workers: int, parts: Path, progress: Progress | None) -> list[DataSet]:
    files = [parts / f"{number}.npz" for number in range(len(split.instances))]
    found: list[DataSet | None] = [_stored(file) for file in files]
    missing = [number for number, data in enumerate(found) if data is None]
    tell = progress or (lambda done, total: None)
    tell(len(found) - len(missing), len(found))
    done = len(found) - len(missing)
    instances = [split.instances[number] for number in missing]
    for position, data, seconds in _labelled(instances, split.labelling, workers):
        found[missing[position]] = data
        if seconds >= _WORTH_KEEPING:
            data.save(files[missing[position]])
        done += 1
        tell(done, len(found))
    return [data for data in found if data is not None]


def _labelled(
    instances: Sequence[Instance], settings: Labelling, workers: int
) -> Iterator[tuple[int, DataSet, float]]:
    """Position, data and seconds of each instance, as they come."""
    if min(workers, len(instances)) <= 1:
        for position, instance in enumerate(instances):
            yield position, *_timed(instance, settings)
        return
    died = (
        "A labelling process died, most likely for want of memory; lower the state budget or the number of "
        "workers and run again: finished instances are kept."
    )
    with process_pool(min(workers, len(instances)), died) as pool:
        futures: dict[Future[tuple[DataSet, float]], int] = {
            pool.submit(_timed, instance, settings): position for position, instance in enumerate(instances)
        }
        for future in as_completed(futures):
            yield futures[future], *future.result()


def _timed(instance: Instance, settings: Labelling) -> tuple[DataSet, float]:
    begun = time.monotonic()
    data = label(instance, settings)
    return data, time.monotonic() - begun


def _stored(file: Path) -> DataSet | None:
    """What a cache file holds; None if it is not there or damaged, so that it is made anew."""
    if not file.exists():
        return None
    try:
        return DataSet.load(file)
    except InputError:
        return None
