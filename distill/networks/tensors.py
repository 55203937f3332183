"""Tensors and metadata in one file: safetensors with JSON in its header. The format holds no code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from distill.common import InputError, atomic_write, content_of, open_regular, parse_json, shown

_KEY = "distill"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and JSON metadata to `path`, whole or not at all.

    Examples
    --------
    >>> import tempfile, torch
    >>> file = Path(tempfile.mkdtemp()) / "one.safetensors"
    >>> write_tensors(file, {"x": torch.ones(2)}, {"kind": "example"})
    >>> read_tensors(file, "example")[0]["x"]
    tensor([1., 1.])
    """
    text = json.dumps(metadata, sort_keys=True, ensure_ascii=False)
    content = save({name: value.contiguous() for name, value in tensors.items()}, {_KEY: text})
    with atomic_write(path) as stream:
        stream.write(content)


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a file of `write_tensors` whose metadata has this `kind`."""
    # The library compares the sizes in the header with that of the file.
    with open_regular(path), content_of(path):
        try:
            with safe_open(path, framework="pt") as file:
                metadata = parse_json((file.metadata() or {}).get(_KEY, "{}"), shown(path))
                if metadata.get("kind") != kind:
                    raise InputError(
                        f"{shown(path)} holds {metadata.get('kind')!r}, not {kind!r}; give another file."
                    )
                return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
        except SafetensorError as error:
            raise ValueError(str(error)) from error
