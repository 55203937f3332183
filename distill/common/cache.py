"""The cache policy: where results are stored between commands, and when a stored result is used again.

The name of an entry consists of its stage, a key of all its inputs, and code versions: those of its stage and
of all stages before it. A change of the code that alters the result of a stage must increase the version of
the stage here. Any other change leaves the cache valid. A finished run records the versions that made it; a
warning names the stages that have changed since.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STAGES = ("data", "train", "replay", "distil", "regress", "evaluate", "export")
CODE_VERSIONS: dict[str, int] = dict.fromkeys(STAGES, 1) | {
    "distil": 2,
    "regress": 2,
    "evaluate": 2,
    "export": 2,
}
"""The version of the code of each stage."""

KEY_BASE = "0.1.0"
"""Part of every key. It does not change with releases, so that runs keep their names."""


def cache_folder() -> Path:
    """The folder of the cache: `$DISTILL_CACHE`, else `planning-distill` in the user's cache folder."""
    if chosen := os.environ.get("DISTILL_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "planning-distill"


def cache_file(stage: str, key: str, suffix: str = ".npz", folder: Path | None = None) -> Path:
    """The file of an entry.

    Parameters
    ----------
    stage : one of `STAGES`; a part of it follows a slash.
    key : the key of the inputs.
    folder : the cache; see `cache_folder`.

    Examples
    --------
    >>> cache_file("replay/rows", "5f3a", folder=Path("cache")).as_posix()
    'cache/replay/rows/5f3a-v1.1.1.npz'
    """
    name = stage.partition("/")[0]
    versions = ".".join(str(CODE_VERSIONS[one]) for one in STAGES[: STAGES.index(name) + 1])
    return (folder or cache_folder()) / stage / f"{key}-v{versions}{suffix}"


def changed_stages(versions: Mapping[str, int]) -> list[str]:
    """The stages whose code version differs from the given one. A stage that is not given has version 1.

    Examples
    --------
    >>> changed_stages(CODE_VERSIONS), changed_stages({**CODE_VERSIONS, "regress": 0})
    ([], ['regress'])
    """
    return [stage for stage in STAGES if versions.get(stage, 1) != CODE_VERSIONS[stage]]


def content_key(content: Any) -> str:
    """A hash of JSON data; equal content has the same key.

    Examples
    --------
    >>> content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
