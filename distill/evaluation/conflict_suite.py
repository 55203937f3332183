"""The conflicts of all domains below a folder, as in Tables 1 and 2 of `symmetries.txt`.

A domain folder has a `domain.pddl`. Its instances are beside it, or in its folder `instances`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from distill.common import InputError, InterruptionError, cache_file, content_key, shown, write_json
from distill.evaluation.published_counts import DomainCounts, PublishedCounts, published_conflicts
from distill.networks import compare_random_networks
from distill.planning import Domain, Labelling, Split, data_key, prepare, splits_from_folders
from distill.symmetry import VARIANTS, Expressivity

Progress = Callable[[str, int, int], None]
_SECONDS = 7200.0  # of an instance; the number of states is the limit


@dataclass(frozen=True)
class SuiteSettings:
    """How the domains of a suite are analysed.

    Attributes
    ----------
    max_states : of an instance; a larger one is an error, since conflicts are counted on all states.
    networks : the number of untrained networks to compare with 1-WL; 0 for none.
    layers : of these networks.
    """

    max_states: int = 100_000
    networks: int = 0
    layers: int = 5


@dataclass(frozen=True)
class SuiteDomain:
    """A domain of a suite.

    Attributes
    ----------
    name : the path of its folder within the suite.
    published : the figures of the domain in the paper, if it has some.
    counts : our counts; None after an error.
    fault : the error.
    """

    name: str
    published: PublishedCounts | None
    counts: DomainCounts | None
    fault: str = ""

    def differences(self) -> list[str]:
        """The published figures that differ from ours."""
        return self.published.differences(self.counts) if self.published and self.counts else []


def domain_folders(suite: Path, pattern: str = "*") -> list[Path]:
    """The domain folders below a folder, in alphabetical order.

    Parameters
    ----------
    pattern : of their paths within the suite, such as `*/table1`.

    Examples
    --------
    >>> import tempfile
    >>> suite = Path(tempfile.mkdtemp())
    >>> for name in ("gripper", "ferry"):
    ...     (suite / name).mkdir()
    ...     (suite / name / "domain.pddl").touch()
    >>> [folder.name for folder in domain_folders(suite)]
    ['ferry', 'gripper']
    """
    if not suite.is_dir():
        raise InputError(f"There is no folder {shown(suite)}; give a folder of domain folders.")
    found = sorted(file.parent for file in suite.rglob("domain.pddl"))
    if not found:
        raise InputError(
            f"There is no domain.pddl below {shown(suite)}; give a folder that has a folder for each domain."
        )
    chosen = [folder for folder in found if fnmatch(_name(suite, folder), pattern)]
    if not chosen:
        example = _name(suite, found[0])
        raise InputError(f"No domain folder below {shown(suite)} matches {pattern}; one is {shown(example)}.")
    return chosen


def analyse_suite(
    suite: Path,
    settings: SuiteSettings,
    *,
    pattern: str = "*",
    workers: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Iterator[SuiteDomain]:
    """Analyse the domains below a folder, one after the other; a domain that is cached is not analysed again.

    A domain that cannot be read or expanded is yielded with its error, and the others are analysed.

    Parameters
    ----------
    pattern : see `domain_folders`.
    workers : processes for labelling.
    cache : the folder of stored results; see `cache_folder`.
    progress : called with what is done, the finished steps and all steps.
    """
    folders = domain_folders(suite, pattern)
    for number, folder in enumerate(folders, start=1):
        name = _name(suite, folder)
        published = published_conflicts().match([suite.name, *Path(name).parts])

        def report(
            step: str, done: int, total: int, title: str = f"{name} ({number} of {len(folders)})"
        ) -> None:
            if progress is not None:
                progress(f"{title}: {step}", done, total)

        try:
            counts = _counts(folder, settings, workers, cache, report)
        except InterruptionError:
            raise
        except InputError as error:
            yield SuiteDomain(name, published, None, str(error))
        else:
            yield SuiteDomain(name, published, counts)


def _counts(
    folder: Path, settings: SuiteSettings, workers: int, cache: Path | None, report: Progress
) -> DomainCounts:
    """The counts of a domain folder, from the cache if they are there."""
    report("reading", 0, 1)
    split = _split(folder, settings)
    networks = [settings.networks, settings.networks and settings.layers]
    file = cache_file("data/conflicts", content_key([data_key(split, "none"), networks]), ".json", cache)
    try:
        return DomainCounts.read(file)
    except InputError:  # missing, or damaged
        pass
    data, _ = prepare(
        split,
        reduce="none",
        workers=workers,
        cache=cache,
        progress=lambda done, total: report("labelling", done, total),
    )
    expressivity = Expressivity.of(data, lambda done, total: report("classes", done, total))
    for name in VARIANTS:
        expressivity.conflicts(name, lambda done, total, name=name: report(name, done, total))  # type: ignore[misc]
    counts = expressivity.summary()
    if settings.networks:
        compared = compare_random_networks(
            expressivity,
            settings.networks,
            settings.layers,
            progress=lambda done, total: report("random networks", done, total),
        )
        counts["random_networks"] = compared.summary()
    write_json(file, counts)
    return DomainCounts.read(file)


def _split(folder: Path, settings: SuiteSettings) -> Split:
    """The instances of a domain folder, all states of which are to be labelled."""
    labelling = Labelling(max_states=settings.max_states, walks=0, time_limit=_SECONDS)
    inner = folder / "instances"
    instances = inner if inner.is_dir() else folder
    [split] = splits_from_folders(Domain.read(folder / "domain.pddl"), {"train": instances}, labelling)
    return split


def _name(suite: Path, folder: Path) -> str:
    """The path of a domain folder within the suite; the suite's own name if it is the suite."""
    return suite.name if folder == suite else folder.relative_to(suite).as_posix()
