"""Work with the PDDL library in other processes: a crash or a limit becomes one sentence."""

import hashlib
import multiprocessing
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from distill.common import GIGABYTE, Call, InputError, WorkerEndedError, carry_out, in_worker

_PARSING_SECONDS = 10.0
_PARSED: set[str] = set()
_HINTS = {
    "crash": "the PDDL library crashed while {doing} it; simplify the PDDL, for example its quantified "
    "conditions and effects.",
    "killed": "the process was killed from outside while {doing} it, most likely for lack of memory; lower "
    "the state budget or the number of workers and run again.",
    "time": "{doing} it does not end within the time limit of {seconds:g} s; raise the limit, or give fewer "
    "objects or actions with fewer parameters.",
    "memory": "{doing} it takes more memory than {memory}; raise the memory limit, lower the state budget or "
    "the number of workers, or give a smaller instance.",
}


class LimitError(InputError):
    """Work was ended at a limit of time or memory."""


def supervised(
    calls: Sequence[Call],
    sources: Sequence[str],
    doing: str,
    *,
    seconds: float,
    memory: float = 0.0,
    workers: int = 1,
) -> Iterator[tuple[int, Any]]:
    """Carry out calls in other processes, see `carry_out`; a process that ends becomes an `InputError`.

    Parameters
    ----------
    sources : the instance or file of each call, for messages.
    doing : what the calls do, for messages.
    seconds : the time limit of each call. A call that observes it itself ends soon after it; others are ended
        at twice the limit and ten seconds. Until then work that is almost finished may be completed.
    memory : gigabytes for each process; 0 for 80% of the available memory for all of them.

    Examples
    --------
    >>> list(supervised([(abs, (-3,))], ["p.pddl"], "expanding", seconds=5))
    [(0, 3)]
    """
    most = 2 * seconds + 10
    try:
        yield from carry_out(calls, workers, seconds=most, memory=memory * GIGABYTE)
    except WorkerEndedError as error:
        allowed = f"{memory:g} GB" if memory else "80% of what is available"
        reason = _HINTS[error.cause].format(doing=doing, seconds=seconds, memory=allowed)
        kind = LimitError if error.cause in ("time", "memory") else InputError
        raise kind(f"{sources[error.position]}: {reason}") from error


def try_to_parse(domain: str, problem: str | None, source: str) -> None:
    """Parse PDDL in another process first, once for each content; a crash of the library is an error there.

    Parameters
    ----------
    domain, problem : the texts; without a problem, only the domain is parsed.
    source : the file of the last text, for messages.
    """
    if in_worker() or multiprocessing.parent_process() is not None:
        return  # the parent has parsed it
    key = hashlib.sha256(repr((domain, problem)).encode()).hexdigest()
    if key not in _PARSED and (problem is not None or domain not in included_domains()):
        call = (parse, (domain, problem, source))
        for _ in supervised([call], [source], "parsing", seconds=_PARSING_SECONDS):
            _PARSED.add(key)


def parse(domain: str, problem: str | None, source: str) -> None:
    """Parse PDDL; an error is raised."""
    from distill.planning.pddl import Instance

    if problem is None:
        _domain(domain, source)
    else:
        Instance(_domain(domain, "the domain"), problem, source)


@lru_cache(maxsize=1)
def _domain(text: str, source: str) -> Any:
    """The domain of a folder of instances is parsed once."""
    from distill.planning.pddl import Domain

    return Domain(text, source)


@cache
def included_domains() -> frozenset[str]:
    """The domains that come with the package, as they are parsed."""
    from distill.planning.pddl import plain_pddl

    folder = Path(__file__).parent / "domains"
    return frozenset(plain_pddl(file.read_text(encoding="utf-8")) for file in folder.glob("*.pddl"))
