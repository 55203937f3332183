"""Files: read with limits, written atomically, locked between processes."""

import contextlib
import fcntl
import io
import json
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from distill.common.errors import InputError

MAX_BYTES = 256 * 2**20
"""Size of a text file, at most; a larger one is refused before it is read."""
MAX_NESTING = 100
"""Depth of nested lists and mappings in JSON and YAML, at most."""
# What reading the content of a damaged file can raise: headers, compression, missing parts, other types.
_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    EOFError,
    SyntaxError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)


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
        if path.is_dir() or (path.exists() and not path.is_file()):
            raise InputError(
                f"Cannot write {shown(path)}: something else than a file is there; choose another."
            )
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
            f"Cannot write {shown(path)}: {error.strerror or error}; no part of it was written."
        ) from error
    except ValueError as error:
        if "\0" not in str(path):
            raise
        raise InputError(f"Cannot write {shown(path)!r}: its name is not valid.") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def read_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a regular file; a folder, device, pipe or socket is refused, and so is a file that is too large.

    Examples
    --------
    >>> read_bytes(Path("/dev/zero"))
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: Cannot read /dev/zero: it is not a regular file; check the path.
    """
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > max_bytes:
            raise InputError(
                f"Cannot read {shown(path)}: it has {size} bytes and at most {max_bytes} are accepted; "
                "give a smaller file."
            )
        return stream.read(max_bytes)


@contextlib.contextmanager
def open_regular(path: Path) -> Iterator[io.BufferedReader]:
    """Open a regular file to read it; a folder, device, pipe or socket is refused, without waiting for it.

    Examples
    --------
    >>> with open_regular(Path("/dev/null")) as stream:
    ...     pass
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: Cannot read /dev/null: it is not a regular file; check the path.
    """
    try:
        # Without O_NONBLOCK the opening of a pipe waits for somebody who writes to it.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(f"Cannot read {shown(path)}: it is not a regular file; check the path.")
            yield stream
    except OSError as error:
        raise InputError(f"Cannot read {shown(path)}: {error.strerror or error}; check the path.") from error
    except ValueError as error:
        if "\0" not in str(path):
            raise
        raise InputError(f"Cannot read {shown(path)}: its name is not valid; check the path.") from error


@contextlib.contextmanager
def content_of(path: Path, advice: str = "make it again") -> Iterator[None]:
    """Report what goes wrong in the body, which reads the content of a file, as damage of that file.

    Parameters
    ----------
    advice : what to do about it, for the message.

    Examples
    --------
    >>> with content_of(Path("x.gz")):
    ...     {}["a"]
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: x.gz is damaged or has another format (KeyError: 'a'); make it again.
    """
    try:
        yield
    except _DAMAGE as error:
        reason = shown(" ".join(f"{type(error).__name__}: {error}".split()))
        raise InputError(f"{shown(path)} is damaged or has another format ({reason}); {advice}.") from error


def read_text(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Read a regular file as UTF-8 text; a byte order mark at its beginning is dropped.

    Examples
    --------
    >>> file = Path(tempfile.mkdtemp()) / "text"
    >>> _ = file.write_bytes(b"\\xef\\xbb\\xbfa")
    >>> read_text(file)
    'a'
    """
    try:
        return read_bytes(path, max_bytes).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"Cannot read {shown(path)}: it is not UTF-8 text (byte {error.start}); check the path."
        ) from error


def shown(path: Path | str) -> str:
    """A path for a message: printable, and shortened if it is very long.

    Examples
    --------
    >>> shown("a" * 5000) == "a" * 100 + "..." + "a" * 97
    True
    >>> shown("a\\nb")
    'a\\\\nb'
    """
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(path))
    return text if len(text) <= 500 else f"{text[:100]}...{text[-97:]}"


def parse_json(text: str | bytes, source: str) -> Any:
    """Parse JSON from a file or a user; the depth of its nesting is bounded.

    Parameters
    ----------
    source : where the text comes from, for messages.

    Examples
    --------
    >>> parse_json('{"a": [1]}', "x.json")
    {'a': [1]}
    >>> parse_json("[" * 101 + "]" * 101, "x.json")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: x.json: the JSON is nested in more than 100 levels; correct the file.
    """
    try:
        content = json.loads(text)
        nested = _nesting_exceeds(content, MAX_NESTING)
    except RecursionError:
        nested = True
    except ValueError as error:
        reason = str(error).partition(":")[0].lower()
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{source}{line}: it is not valid JSON ({reason}); correct the file.") from error
    if nested:
        raise InputError(f"{source}: the JSON is nested in more than {MAX_NESTING} levels; correct the file.")
    return content


def _nesting_exceeds(content: Any, most: int) -> bool:
    level = [content]
    for _ in range(most + 1):
        level = [one for one in level if isinstance(one, list | dict)]
        if not level:
            return False
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return True


def read_json(file: Path) -> dict[str, Any]:
    """The mapping in a file; empty if the file does not exist or is not valid."""
    try:
        content = parse_json(read_text(file), str(file))
    except InputError:
        return {}
    return content if isinstance(content, dict) else {}


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Write a mapping to a file, atomically."""
    with atomic_write(file) as stream:
        stream.write(json.dumps(content).encode())
