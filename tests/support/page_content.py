"""A page alone, as an address shows it, and what is on it: sentences, tables, formulas, pictures."""

import re
from pathlib import Path

import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.support.commands import PATIENCE

_LINE = re.compile(r"(?:(`+) ?(.*?) ?\1)?")
_PICTURE = re.compile(r"!\[(.*)\]\(data:image/svg\+xml;base64,[A-Za-z0-9+/=]+\)")


def shown(module: str, store: Path, monkeypatch, **address: str) -> AppTest:
    """A page alone, as an address shows it."""
    monkeypatch.setenv("DISTILL_STORE", str(store))
    at = AppTest.from_string(f"from app.pages import {module}\n{module}.show()", default_timeout=PATIENCE)
    for key, value in address.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def said(at: AppTest, *more: str) -> str:
    """All sentences, and more kinds of text, without what keeps them from being markup."""
    kinds = ("error", "warning", "info", "success", "caption", "text", *more)
    return "\n".join(one.value for kind in kinds for one in getattr(at, kind)).replace("\\", "")


def frame(at: AppTest, *columns: str) -> pd.DataFrame:
    """The table on a page that has some columns."""
    return next(one.value for one in at.dataframe if set(columns) <= set(one.value.columns))


def preformatted(at) -> list[str]:
    """The texts of one width on a page, from top to bottom."""
    found = []
    for element in at.markdown:
        lines = [_LINE.fullmatch(line) for line in map(str.rstrip, element.value.split("\n"))]
        if all(lines):
            found.append("\n".join((line[2] or "").replace("\u00a0", " ") for line in lines))
    return found


def small_table(at, *columns: str) -> pd.DataFrame:
    """The small table on a page that has some columns, as texts."""
    for element in at.markdown:
        lines = [line.strip("| ").split(" | ") for line in element.value.splitlines() if line.startswith("|")]
        lines = [[cell.replace("\\", "") for cell in line] for line in lines]
        if lines and set(columns) <= set(lines[0]):
            return pd.DataFrame(lines[2:], columns=lines[0])
    raise AssertionError(f"no table has {columns}")


def pictured(at) -> str:
    """What the picture on a page shows, in words."""
    [found] = filter(None, (_PICTURE.fullmatch(element.value) for element in at.markdown))
    return found[1].replace("\\", "")
