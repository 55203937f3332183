"""Texts of formulas, joined at the end: in deep formulas the text of a part is not copied for each whole."""

_MARK = "\0"  # before and after the number of a kept text; names have printable characters only
_SHORT = 100  # characters of texts that are copied at once


class Texts:
    """Texts with references to texts that were kept before.

    Examples
    --------
    >>> texts = Texts()
    >>> inner = texts.keep(" & ".join("abcdefgh" * 5))
    >>> len(inner) < 10
    True
    >>> texts.whole(f"~({inner})")[:12]
    '~(a & b & c '
    """

    def __init__(self) -> None:
        self._kept: list[str] = []

    def keep(self, text: str) -> str:
        """A short text that stands for this one."""
        if len(text) <= _SHORT:
            return text
        self._kept.append(text)
        return f"{_MARK}{len(self._kept) - 1}{_MARK}"

    def whole(self, text: str) -> str:
        """A text with all texts that it refers to."""
        if _MARK not in text:
            return text
        found: list[str] = []
        todo = [(text, True)]
        while todo:
            piece, refers = todo.pop()
            if not refers:
                found.append(piece)
                continue
            pieces = piece.split(_MARK)
            pieces[1::2] = [self._kept[int(number)] for number in pieces[1::2]]
            todo += reversed([(one, place % 2 == 1) for place, one in enumerate(pieces)])
        return "".join(found)
