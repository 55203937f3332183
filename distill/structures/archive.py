"""Arrays and metadata in one file: numpy's `.npz`, without pickle, written whole or not at all.

The file is a zip archive. Each array is a member `NAME.npy`; the member `metadata.npy` holds UTF-8 JSON
as bytes. `numpy.load(path, allow_pickle=False)` reads it without this package.
"""

import contextlib
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.files import written_whole

_METADATA = "metadata"
_PACKING: Mapping[bool, tuple[Any, ...]] = {
    False: (zipfile.ZIP_STORED,),
    True: (zipfile.ZIP_DEFLATED, True, 1),
}
# What reading raises where bytes were changed: zip headers, compression, numpy headers, JSON.
_DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    SyntaxError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
)


def write_archive(
    path: Path, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any], *, compressed: bool = False
) -> None:
    """Write `arrays` and JSON `metadata` to `path`, atomically: a reader sees all of it or nothing.

    Compressed files are smaller, and slower to write.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "three.npz"
    >>> write_archive(file, {"x": np.arange(3)}, {"kind": "example"})
    >>> read_archive(file, "example")[0]["x"]
    array([0, 1, 2])
    """
    text = json.dumps(metadata, ensure_ascii=False)
    members = {**arrays, _METADATA: np.frombuffer(text.encode(), dtype=np.uint8)}
    # As numpy's savez does, but with the quickest compression.
    with written_whole(path) as stream, zipfile.ZipFile(stream, "w", *_PACKING[compressed]) as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_archive(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what `write_archive` wrote, if its metadata says it is of this `kind`."""
    with _opened(path) as archive:
        metadata = _metadata(path, archive, kind)
        return {name: archive[name] for name in archive.files if name != _METADATA}, metadata


@contextlib.contextmanager
def _opened(path: Path) -> Any:
    try:
        with np.load(path, allow_pickle=False) as archive:
            yield archive
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except _DAMAGE as error:
        raise InputError(f"{path} is damaged or not one of our files ({error}); make it again.") from error


def _metadata(path: Path, archive: Any, kind: str) -> dict[str, Any]:
    metadata: dict[str, Any] = json.loads(archive[_METADATA].tobytes())
    if metadata.get("kind") != kind:
        raise InputError(f"{path} holds {metadata.get('kind')!r}, not {kind!r}; give another file.")
    return metadata
