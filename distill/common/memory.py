"""The memory that a piece of work needs, compared with that of this machine before the work begins."""

import os

from distill.common.errors import InputError

_GIB = 2**30


def machine_memory() -> int:
    """The bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


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
