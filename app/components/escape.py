"""Escapes text: Streamlit reads labels and messages as markdown."""

import re

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])")


def escape(text: object) -> str:
    r"""Escape a text for a label or a message, so that names never become links, images or formulas.

    Examples
    --------
    >>> print(escape("![x](http://else.where/x.png)"))
    \!\[x\]\(http\://else\.where/x\.png\)
    >>> escape("two\n\nlines")
    'two lines'
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(text).split()))
