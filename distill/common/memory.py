"""Memory: what this machine has, and whether a piece of work fits."""

import contextlib
import os
from pathlib import Path

from distill.common.errors import InputError

_GIB = 2**30


def machine_memory() -> int:
    """The bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory() -> float:
    """The bytes of memory that this machine, or its container, has left."""
    left = [float(machine_memory())]
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        left.append(1024.0 * int(next(one for one in lines if one.startswith("MemAvailable")).split()[1]))
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        most, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
        left.append(float(most - used))
    return min(left)


def check_memory(needed: float, subject: str, advice: str) -> None:
    """Refuse work that cannot fit in memory.

    Parameters
    ----------
    needed : bytes that the work needs at least.
    subject, advice : what needs them, and what to do about it, for the message.

    Examples
    --------
    >>> check_memory(1e6, "A network of 32 numbers", "lower size")
    >>> check_memory(1e18, "A network of 10^17 numbers", "lower size")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: A network of 10^17 numbers needs at least 931322574.6 GiB of memory, ...
    """
    have = machine_memory()
    if needed > have:
        raise InputError(
            f"{subject} needs at least {needed / _GIB:.1f} GiB of memory, but this machine has "
            f"{have / _GIB:.1f} GiB; {advice}."
        )
