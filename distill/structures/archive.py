"""Arrays and metadata in one file: numpy's `.npz`, without pickle, written atomically.

The file is a zip archive. Each array is a member `NAME.npy`; the member `metadata.npy` holds UTF-8 JSON
as bytes. `numpy.load(path, allow_pickle=False)` reads it without this package.
"""

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

from distill.common import InputError, atomic_write

_METADATA = "metadata"
_PACKING: Mapping[bool, tuple[Any, ...]] = {
    False: (zipfile.ZIP_STORED,),
    True: (zipfile.ZIP_DEFLATED, True, 1),
}
# Errors of damaged files: zip headers, compression, numpy headers, JSON.
_DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    SyntaxError,
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
    """Write `arrays` and JSON `metadata` to `path` atomically.

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
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", *_PACKING[compressed]) as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_archive(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read a file that `write_archive` wrote, if its metadata has this `kind`."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            metadata: dict[str, Any] = json.loads(archive[_METADATA].tobytes())
            if metadata.get("kind") != kind:
                raise InputError(f"{path} holds {metadata.get('kind')!r}, not {kind!r}; give another file.")
            return {name: archive[name] for name in archive.files if name != _METADATA}, metadata
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except _DAMAGE as error:
        raise InputError(f"{path} is damaged or has another format ({error}); create it again.") from error
