"""Records: the schema of a JSON or YAML file, declared once and checked whenever the file is read."""

import math
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from distill.common.errors import InputError
from distill.common.files import parse_json, read_text, shown

Kind = TypeVar("Kind")


class Record(BaseModel):
    """The entries of a file. Entries that are not declared are accepted, as other versions may write them.

    Examples
    --------
    >>> class Line(Record):
    ...     seconds: float
    >>> Line.check({"seconds": 1, "more": []}, Path("log")).seconds
    1.0
    >>> Line.check({"seconds": "1"}, Path("log"))
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: log is damaged (seconds: input should be a valid number); make it again.
    """

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False)

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read and check a file of JSON."""
        return cls.check(parse_json(read_text(file), shown(file)), file)

    @classmethod
    def check(cls, content: Any, file: Path, advice: str = "make it again") -> Self:
        """Check plain data.

        Parameters
        ----------
        file, advice : where they come from, and what to do if they are wrong, for messages.
        """
        if not isinstance(content, dict):
            raise InputError(f"{shown(file)} is damaged (it has no entries by name); {advice}.")
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise InputError(f"{shown(file)} is damaged ({_fault(error)}); {advice}.") from error


def read_dataclass(kind: type[Kind], file: Path) -> Kind:
    """An object of a dataclass from a file of JSON that has its fields, with the types that it declares.

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: int
    >>> file = Path(tempfile.mkdtemp()) / "point.json"
    >>> _ = file.write_text('{"x": 3}')
    >>> read_dataclass(Point, file)
    Point(x=3)
    """
    text = read_text(file)
    parse_json(text, shown(file))  # its depth is bounded, and its messages name the line
    try:
        found: Kind = TypeAdapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        raise InputError(f"{shown(file)} is damaged ({_fault(error)}); remove it.") from error
    if not all(math.isfinite(value) for value in vars(found).values() if isinstance(value, float)):
        raise InputError(f"{shown(file)} is damaged (a number is not finite); remove it.")
    return found


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = shown(".".join(map(str, first["loc"])))
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}"
