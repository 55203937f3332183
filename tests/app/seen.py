"""What a page shows as markdown: formulas, small tables and pictures."""

import re

import pandas as pd

_LINE = re.compile(r"(?:(`+) ?(.*?) ?\1)?")
_PICTURE = re.compile(r"!\[(.*)\]\(data:image/svg\+xml;base64,[A-Za-z0-9+/=]+\)")


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
