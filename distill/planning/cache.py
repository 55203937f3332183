"""Where results are kept between runs, under a name made from all they depend on."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """The cache: `$DISTILL_CACHE`, else `planning-distill` in the user's cache folder."""
    if chosen := os.environ.get("DISTILL_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "planning-distill"


def content_key(content: Any) -> str:
    """A name for anything that JSON can write: equal content, equal name.

    Examples
    --------
    >>> content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
