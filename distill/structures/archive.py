"""Arrays and metadata in one file: numpy's `.npz`, without pickle, written atomically.

The file is a zip archive. Each array is a member `NAME.npy`; the member `metadata.npy` holds UTF-8 JSON
as bytes. `numpy.load(path, allow_pickle=False)` reads it without this package.
"""

import json
import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError, atomic_write, content_of, open_regular, parse_json, shown

_METADATA = "metadata"
_PACKING: Mapping[bool, tuple[Any, ...]] = {
    False: (zipfile.ZIP_STORED,),
    True: (zipfile.ZIP_DEFLATED, True, 1),
}
_MOST_PACKED = 1_100  # bytes that one byte of a compressed member can stand for; the format allows 1 032
_HEADERS: Mapping[tuple[int, int], Callable[..., Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


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
    with (
        open_regular(path) as stream,
        content_of(path, "create it again"),
        zipfile.ZipFile(stream) as archive,
    ):
        arrays = {one.filename.removesuffix(".npy"): _read_member(archive, one) for one in archive.infolist()}
        metadata = parse_json(arrays.pop(_METADATA).tobytes(), shown(path))
        if metadata.get("kind") != kind:
            raise InputError(
                f"{shown(path)} holds {metadata.get('kind')!r}, not {kind!r}; give another file."
            )
        return arrays, metadata


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """One array. Its size must be that of the member before memory is taken for it."""
    if member.file_size > _MOST_PACKED * (member.compress_size + 1):
        raise ValueError(f"{member.filename} cannot hold {member.file_size} bytes")
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        shape, _, dtype = _HEADERS[version](stream)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != member.file_size - stream.tell():
            raise ValueError(f"the header of {member.filename} does not fit its size")
    with archive.open(member) as stream:
        found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        stream.read(1)  # at the end of a member its checksum is compared
        return found
