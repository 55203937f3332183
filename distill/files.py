"""Writing files whole or not at all."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from distill.errors import InputError


@contextlib.contextmanager
def locked(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[bool]:
    """Be the only process that works on `path` while the body runs; others wait.

    The lock is the system's, on a hidden file beside: it ends with its process, however that ends. Where a
    file system knows no locks it gives False: work may then be done twice, but not wrongly.

    Parameters
    ----------
    waiting : called if another process has the lock.

    Examples
    --------
    >>> with locked(Path(tempfile.mkdtemp()) / "result") as alone:
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
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a stream; what is written to it becomes the file `path` at the end, atomically, or nothing does.

    Examples
    --------
    >>> file = Path(tempfile.mkdtemp()) / "new" / "two.txt"
    >>> with written_whole(file) as stream:
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
        # A temporary file is for its owner alone; the result may be read by whom the user lets read.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"Cannot write {path}: {error.strerror or error}; nothing was left behind."
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
