"""What pages say in markdown, read back: formulas, small tables and pictures, for a page as a file."""

import re

from distill.jobs.markup import Markup, element, table

_LINE = re.compile(r"(?:(`+) ?(.*?) ?\1)?")
_PICTURE = re.compile(r"!\[(.*)\]\((data:image/svg\+xml;base64,[A-Za-z0-9+/=]+)\)")
_ESCAPED = re.compile(r"\\([^\w\s])")
_CELLS = re.compile(r"(?<!\\)\|")


def code_or_table(text: str) -> Markup | None:
    """A formula or a small table in markdown as markup; None if it is something else.

    Examples
    --------
    >>> code_or_table("`#<on>clear`")
    '<pre><code>#&lt;on&gt;clear</code></pre>'
    >>> ">a|b</th>" in code_or_table("| name |\\n| :-- |\\n| a\\\\|b |")
    True
    >>> code_or_table("Three `words` here.")
    """
    lines = [_LINE.fullmatch(line) for line in map(str.rstrip, text.split("\n"))]
    if all(lines) and text.strip():
        return element(
            "pre",
            element("code", "\n".join((line[2] or "").replace("\u00a0", " ") for line in lines if line)),
        )
    rows = [line.strip() for line in text.strip().splitlines()]
    if len(rows) < 2 or not all(row.startswith("|") and row.endswith("|") for row in rows):
        return None
    cells = [[_ESCAPED.sub(r"\1", cell.strip()) for cell in _CELLS.split(row[1:-1])] for row in rows]
    numeric = [place for place, side in enumerate(cells[1]) if side.endswith(":")]
    return table("", cells[0], cells[2:], numeric)


def picture_in(text: str) -> tuple[str, str] | None:
    """The words and the address of a picture in markdown; None if it is something else.

    Examples
    --------
    >>> picture_in("![Rooms\\\\: two](data:image/svg+xml;base64,PHN2Zy8+)")
    ('Rooms: two', 'data:image/svg+xml;base64,PHN2Zy8+')
    """
    found = _PICTURE.fullmatch(text.strip())
    return (_ESCAPED.sub(r"\1", found[1]), found[2]) if found else None
