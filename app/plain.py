"""Text that is shown as it is: what Streamlit reads as markup in labels and messages means nothing here."""

import re

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])")


def plain(text: object) -> str:
    r"""The text for a label or a message, so that names and messages cannot become links, images or formulas.

    Examples
    --------
    >>> print(plain("![x](http://else.where/x.png)"))
    \!\[x\]\(http\://else\.where/x\.png\)
    >>> plain("two\n\nlines")
    'two lines'
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(text).split()))
