"""YAML: plain data only, nested and repeated within bounds, with the line of each part."""

from collections.abc import Callable
from typing import Any

import yaml

from distill.common.errors import InputError
from distill.common.files import MAX_NESTING

Key = str | int
MAX_PARTS = 100_000
"""Number of values in a YAML file, at most; an alias counts as what it stands for."""

_TAG = "tag:yaml.org,2002:"
_PLAIN = [_TAG + kind for kind in ("null", "bool", "int", "float", "str")]
_DATE = _TAG + "timestamp"
# Without the messages that people need for a file of their own, but ten times as fast.
_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(
    text: str, place: Callable[[int], str], *, fast: bool = False
) -> tuple[Any, dict[tuple[Key, ...], int]]:
    """Plain data from YAML text, and the line of each part.

    Parameters
    ----------
    place : names a line in messages.
    fast : whether the text was written by a program, so that speed matters more than messages.

    Examples
    --------
    >>> read_yaml("a:\\n- 0.5\\n- yes", "line {}".format)
    ({'a': [0.5, True]}, {(): 1, ('a',): 1, ('a', 0): 2, ('a', 1): 3})
    >>> read_yaml("[" * 101 + "]" * 101, str)
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: 1: this is not YAML (it is nested in more than 100 levels); correct it.
    """
    kind = _FAST if fast else yaml.SafeLoader
    try:
        _check_events(text, kind)
        loader = kind(text)
        node = loader.get_single_node()
        lines: dict[tuple[Key, ...], int] = {}
        return (None if node is None else _plain(loader, node, (), lines, place)), lines
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"{place(line)}: this is not YAML ({error.reason}); correct it.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = place(mark.line + 1) if mark else place(1)
        if "'\\t'" in str(error.problem):
            raise InputError(f"{where}: a tab is not YAML; use spaces.") from error
        raise InputError(f"{where}: this is not YAML ({error.problem}); correct it.") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{place(1)}: this is not YAML ({type(error).__name__}); correct it.") from error


def _check_events(text: str, kind: Any) -> None:
    """Refuse deep nesting before it is parsed recursively."""
    depth = 0
    for event in yaml.parse(text, Loader=kind):
        mark: Any = event.start_mark
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_NESTING:
            raise yaml.MarkedYAMLError(
                problem=f"it is nested in more than {MAX_NESTING} levels", problem_mark=mark
            )


def _plain(
    loader: Any,
    node: yaml.Node,
    keys: tuple[Key, ...],
    lines: dict[tuple[Key, ...], int],
    place: Callable[[int], str],
) -> Any:
    """The plain data of a node; adds the lines of its parts."""
    line = node.start_mark.line + 1
    lines.setdefault(keys, line)
    # With aliases a short file can expand without end.
    if len(keys) > MAX_NESTING or len(lines) > MAX_PARTS:
        reason = f"with its aliases it has more than {MAX_PARTS:,} parts or {MAX_NESTING} levels"
        raise InputError(f"{place(line)}: this YAML is too large ({reason}); correct it.")
    if isinstance(node, yaml.MappingNode) and node.tag == loader.DEFAULT_MAPPING_TAG:
        found: dict[str, Any] = {}
        for name, value in node.value:
            at = name.start_mark.line + 1
            if not isinstance(name, yaml.ScalarNode):
                raise InputError(f"{place(at)}: a name must not be a list or a mapping; correct it.")
            inner = (*keys, name.value)
            if inner in lines:
                shown = ".".join(map(str, inner))
                raise InputError(
                    f"{place(at)}: {shown} is given twice, first in line {lines[inner]}; remove one."
                )
            lines[inner] = at
            found[name.value] = _plain(loader, value, inner, lines, place)
        return found
    if isinstance(node, yaml.SequenceNode) and node.tag == loader.DEFAULT_SEQUENCE_TAG:
        return [_plain(loader, one, (*keys, n), lines, place) for n, one in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode) and node.tag == _DATE:
        return node.value
    if not isinstance(node, yaml.ScalarNode) or node.tag not in _PLAIN:
        raise InputError(f"{place(line)}: the tag {node.tag} is not known; write plain values.")
    try:
        return loader.construct_object(node)
    except (ValueError, KeyError) as error:
        shown = node.value if len(node.value) < 40 else f"{node.value[:40]}..."
        raise InputError(f"{place(line)}: the value {shown!r} cannot be read; correct it.") from error
