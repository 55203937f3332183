"""Writing files whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from distill.errors import InputError


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
