"""Records: the schema of a JSON or YAML file, declared once and checked whenever the file is read."""

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from distill.common.errors import InputError
from distill.common.files import parse_json, read_text, shown


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
            first = error.errors(include_url=False, include_input=False)[0]
            place = shown(".".join(map(str, first["loc"])))
            fault = first["msg"][:1].lower() + first["msg"][1:]
            raise InputError(f"{shown(file)} is damaged ({place}: {fault}); {advice}.") from error
