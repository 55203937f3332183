"""Tokens of formulas: the signs of the thesis are converted into the typed ones.

The thesis writes modals without brackets, as in `𝐀_onᵀ clear > 0`; the typed form is `<on^-1>clear > 0`.
"""

import re

from distill.logic.notation.operators import Token, tokens_of

NAME = re.compile(r"[A-Za-z_](?:[\w-]*\w)?(?:,[TF])?", re.ASCII)
QUOTED = r'[^"]*(?:""[^"]*)*'  # a quotation mark in a name is doubled
RESERVED = ("top", "bot", "id", "all", "dist", "exists", "forall")
_MARK = '"'
_SIGNS = {"¬": "~", "∧": "&", "∨": "|", "·": "*", "⁺": "+", "ᵀ": "^-1", "−": "-"}
_WORDS = {"⊤": "top", "⊥": "bot", "𝐈": "id", "𝟏": "all"}
_TOKEN = re.compile(
    rf"""\s*(?:(?P<name>{NAME.pattern}|[⊤⊥])|"(?P<quoted>{QUOTED})"
    |𝐀_(?P<role>{NAME.pattern}|"{QUOTED}")|(?P<parameter>[𝐈𝟏])
    |(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
    |(?P<op>\^-1|[~&|<>()\[\]#*+\\,\-{"".join(_SIGNS)}])|(?P<bad>\S))""",
    re.VERBOSE | re.ASCII,
)


def quoted(name: str) -> str:
    """A predicate's name in the typed notation.

    Examples
    --------
    >>> print(quoted("at-robby"), quoted("top"), quoted('a "b" c'))
    at-robby "top" "a ""b"" c"
    """
    return name if NAME.fullmatch(name) and name not in RESERVED else f'"{name.replace(_MARK, 2 * _MARK)}"'


def unquoted(text: str) -> str:
    """Undo `quoted`."""
    return text[1:-1].replace(2 * _MARK, _MARK) if text.startswith(_MARK) else text


def formula_tokens(text: str) -> list[Token]:
    """The tokens of a formula in the typed form.

    Examples
    --------
    >>> " ".join(token.text for token in formula_tokens("𝐀_onᵀ ¬clear > 0"))
    '< on ^-1 > ~ clear > 0 the end'
    """
    found = tokens_of(text, _TOKEN, _SIGNS | _WORDS)
    for token in found:
        if token.kind == "role":
            token.text = unquoted(token.text)
    return _bracketed(found)


def _bracketed(tokens: list[Token]) -> list[Token]:
    """Put `< >` around relations without brackets."""
    if not any(token.kind in ("role", "parameter") for token in tokens):
        return tokens
    relational = _relational_groups(tokens)
    found: list[Token] = []
    groups: list[
        int
    ] = []  # for each open bracket the number of commas of `dist` so far, or -1 for other brackets
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if (token.kind in ("role", "parameter") or place in relational) and not (groups and groups[-1] == 1):
            end = _end_of_relation(tokens, place)
            found.append(Token("op", "<", token.column))
            found += tokens[place:end]
            found.append(Token("op", ">", tokens[end].column))
            place = end
            continue
        if token.kind == "op" and token.text in ("(", "["):
            before = tokens[place - 1]
            of_dist = token.text == "(" and place and (before.kind, before.text) == ("name", "dist")
            in_relation = token.text == "(" and bool(groups) and groups[-1] == 1
            groups.append(0 if of_dist else 1 if in_relation else -1)
        elif token.is_sign(")", "]") and groups:
            groups.pop()
        elif token.is_sign(",") and groups and groups[-1] >= 0:
            groups[-1] += 1
        found.append(token)
        place += 1
    return found


def _relational_groups(tokens: list[Token]) -> set[int]:
    """The positions of brackets that contain only relations."""
    waiting: list[tuple[int, bool, bool]] = []  # position, only relations so far, at least one relation
    found = set()
    for place, token in enumerate(tokens):
        if token.kind == "op" and token.text == "(":
            waiting.append((place, True, False))
            continue
        named = token.kind in ("role", "parameter")
        fits = named or token.kind == "number" or (token.kind == "op" and token.text in _IN_RELATIONS)
        if token.kind == "op" and token.text == ")" and waiting:
            begin, fits, named = waiting.pop()
            if fits and named:
                found.add(begin)
        if waiting:
            begin, pure, some = waiting.pop()
            waiting.append((begin, pure and fits, some or named))
    return found


_IN_RELATIONS = ("~", "&", "|", "\\", "^-1", "+", "*", "[", "]", ",")


def _end_of_relation(tokens: list[Token], place: int) -> int:
    """The end of the relation that begins at `place`, with its postfix signs."""
    depth = 0
    while True:
        text = tokens[place].text if tokens[place].kind == "op" else ""
        depth += (text in ("(", "[")) - (text in (")", "]"))
        place += 1
        after = tokens[place]
        if depth == 0 and not (after.kind == "op" and after.text in ("^-1", "+", "*", "[")):
            return place
        if after.kind == "end":
            return place
