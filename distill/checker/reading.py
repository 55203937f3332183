"""Reading the file of a certificate: its size is bounded, and every entry must be of the right form."""

import gzip
import json
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import CannotCheckError, shown

_MOST_BYTES = 256 * 2**20
_PIECE = 2**20
_MOST_RATIO, _SMALL = 200, 16 * 2**20  # a larger file that was compressed more is no certificate
_DEEPEST = 8
_MOST_COUNT = 2**53

Check = Callable[[Any, str], None]


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate; its entries have the right form, but what they say may be false."""
    try:
        if not path.is_file():
            raise CannotCheckError("there is no such file" if not path.exists() else "it is no regular file")
        text = _content(path).decode("utf-8")
        found = json.loads(text, parse_constant=_no_number, object_pairs_hook=_distinct)
    except OSError as error:
        reason = error.strerror or "it is not compressed by gzip"
        raise CannotCheckError(f"it cannot be read: {reason}") from error
    except (EOFError, zlib.error) as error:
        raise CannotCheckError("it is no certificate: it is damaged, or not compressed by gzip") from error
    except RecursionError as error:
        raise CannotCheckError("it is no certificate: it is nested too deeply") from error
    except ValueError as error:  # neither UTF-8 nor JSON; a null character in the path
        raise CannotCheckError("it is no certificate: it is not JSON") from error
    _CERTIFICATE(found, "it")
    return found  # type: ignore[no-any-return]


def _content(path: Path) -> bytes:
    content = bytearray()
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        most = max(_SMALL, _MOST_RATIO * path.stat().st_size)
        while piece := stream.read(_PIECE):
            content += piece
            if len(content) > min(most, _MOST_BYTES):
                raise CannotCheckError("it is no certificate: it is too large")
    return bytes(content)


def _no_number(word: str) -> None:
    raise CannotCheckError(f"it is no certificate: it has {word}, which is no number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise CannotCheckError("it is no certificate: an entry occurs twice")
    return found


def _fail(value: Any, where: str, due: str) -> None:
    raise CannotCheckError(f"it is no certificate: {where} must be {due}, not {shown(value, 40)}")


def _text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        _fail(value, where, "a text")


def _flag(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        _fail(value, where, "true or false")


def _count(value: Any, where: str) -> None:
    if type(value) is not int or not 0 <= value < _MOST_COUNT:
        _fail(value, where, "a count")


def _v_star(value: Any, where: str) -> None:
    if value != -1:
        _count(value, where)
    elif type(value) is not int:
        _fail(value, where, "a count")


def _number(value: Any, where: str) -> None:
    if type(value) not in (int, float) or not abs(value) < 1e300 or not math.isfinite(value):
        _fail(value, where, "a number")


def _node(value: Any, where: str) -> None:
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        _fail(value, where, "a node")


def _plain(value: Any, where: str) -> None:
    """Any JSON, if it is not nested deeply."""
    level = [value]
    for _ in range(_DEEPEST):
        inner = [one for one in level if isinstance(one, dict | list)]
        level = [part for one in inner for part in (one.values() if isinstance(one, dict) else one)]
    if level:
        _fail(value, where, f"nested less than {_DEEPEST} times")


def _list(check: Check, least: int = 0) -> Check:
    def test(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) < least:
            _fail(value, where, "a list" if not least else "a list that is not empty")
        for number, one in enumerate(value):
            check(one, f"{where}[{number}]")

    return test


def _map(check: Check) -> Check:
    def test(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _fail(value, where, "an object")
        for key, one in value.items():
            check(one, f"{where}.{shown(key, 20)}")

    return test


def _record(fields: dict[str, Check], **optional: Check) -> Check:
    def test(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _fail(value, where, "an object")
        of = "" if where == "it" else f" of {where}"
        for key in sorted(fields.keys() - value.keys()):
            raise CannotCheckError(f"it is no certificate: the entry {key}{of} is missing")
        for key in sorted(value.keys() - fields.keys() - optional.keys()):
            raise CannotCheckError(f"it is no certificate: the entry {shown(key, 40)}{of} is unknown")
        for key, one in value.items():
            ({**fields, **optional})[key](one, key if where == "it" else f"{where}.{key}")

    return test


def _scope(value: Any, where: str) -> None:
    given = isinstance(value, dict) and "instances" in value
    (_GIVEN if given else _ENUMERATED)(value, where)


def _or_null(check: Check) -> Check:
    return lambda value, where: None if value is None else check(value, where)


_GIVEN = _record({"instances": _list(_text, least=1)})
_ENUMERATED = _record(
    {"class": _text, "generator": _text, "parameters": _list(_map(_plain)), "max_objects": _count}
)
_WRONG = _record(dict.fromkeys(("value", "greedy", "goal"), _count))
_COUNTS = dict.fromkeys(("objects", "classes", "states", "dead_ends", "max_v_star"), _count)
_SIZE = _record({**_COUNTS, **dict.fromkeys(("scenes", "instances", "steps"), _count), "wrong": _WRONG})
# Certificates of early versions have a digest, which only the code that wrote it can compute.
_INSTANCE = _record(
    {**_COUNTS, "pddl": _text, "starts": _list(_list(_text)), "wrong": _WRONG, "profile": _text},
    digest=_text,
)
_COUNTEREXAMPLE = _record(
    {
        "objects": _count,
        "v_star": _v_star,
        "value": _number,
        "broken": _list(_text, least=1),
        "state": _list(_text),
        "pddl": _text,
    }
)
_CERTIFICATE = _record(
    {
        **dict.fromkeys(("kind", "version", "value", "domain", "covered", "checksum"), _text),
        **dict.fromkeys(("goal_marking", "symmetry", "holds", "complete"), _flag),
        "source": _map(_text),
        "nodes": _list(_node, least=1),
        "scope": _scope,
        "properties": _map(_text),
        "aside": _list(_text),
        "sizes": _list(_SIZE, least=1),
        "counterexample": _or_null(_COUNTEREXAMPLE),
        "instances": _list(_INSTANCE, least=1),
    }
)
