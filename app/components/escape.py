"""Escapes text: Streamlit reads labels and messages as markdown."""

import re

# The browser finds links, icons and arrows only after it has removed the backslashes, so that these do not
# help: a character without width, the word joiner, keeps the parts from being found.
_JOINER = "\u2060"
_LATE = re.compile(
    r"(?i:(?<=:)(?=//|material|streamlit)|(?<=www)(?=\.))|(?<=@)(?=\S)"
    r"|(?<=\s[<>~-])(?=[=>-])|(?<=^[<>~-])(?=[=>-])"
)
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])")


def escape(text: object) -> str:
    r"""Escape a text for a label or a message, so that names never become links, images or formulas.

    Examples
    --------
    >>> print(escape("![x](x.png) **b**"))
    \!\[x\]\(x\.png\) \*\*b\*\*
    >>> escape("http://a") == "http\\:\u2060//a"
    True
    >>> escape("two\n\nlines")
    'two lines'
    """
    return _MARKUP.sub(r"\\\1", separated(" ".join(str(text).split())))


def separated(text: str) -> str:
    """A text in which a browser finds no links, icons and arrows; it looks the same."""
    return _LATE.sub(_JOINER, text)
