"""Atomic files, and locks between processes."""

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from distill.common.errors import InputError


@contextlib.contextmanager
def file_lock(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[bool]:
    """Hold the lock of `path` while the body runs; other processes wait for it.

    This is a lock of the operating system on a hidden file beside `path`, so it ends with its process. Yields
    False if the file system does not support locks: then work may be done twice, with the same result.

    Parameters
    ----------
    waiting : called if another process holds the lock.

    Examples
    --------
    >>> with file_lock(Path(tempfile.mkdtemp()) / "result") as alone:
    ...     print(alone)
    True
    """
    file = path.with_name(f".{path.name}.lock")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}; choose another folder.") from error
    try:
        yield _lock(handle, waiting)
    finally:
        os.close(handle)


def _lock(handle: int, waiting: Callable[[], None] | None) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting is not None:
            waiting()
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream whose content replaces the file `path` at the end; after an error nothing is replaced.

    Examples
    --------
    >>> file = Path(tempfile.mkdtemp()) / "new" / "two.txt"
    >>> with atomic_write(file) as stream:
    ...     _ = stream.write(b"hi")
    >>> file.read_text()
    'hi'
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as stream:
            yield stream
        # A temporary file is readable for its owner only; the result gets the permissions of the umask.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"Cannot write {path}: {error.strerror or error}; no part of it was written."
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def read_json(file: Path) -> dict[str, Any]:
    """The mapping in a file; empty if the file does not exist or is not valid."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Write a mapping to a file, atomically."""
    with atomic_write(file) as stream:
        stream.write(json.dumps(content).encode())
