"""Settings as pydantic models: the command line, configs, the app and the documents use their fields.

This module imports no large package, so that `distill --help` is fast.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from reprlib import Repr
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic.annotated_handlers import GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from distill.common.errors import InputError

Source = str | Callable[[str], str]
"""The source of settings, for messages: one for all settings, or one for each name."""

Name = TypeVar("Name")
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 100
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 20


class _OneOrSeveral:
    """A single name is an abbreviation of a list with one name."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_listed, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        several = handler(schema)
        return {"anyOf": [several, several["items"]]}


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _from_yaml(value: Any) -> Any:
    # YAML 1.1 reads 1e-3 as text.
    is_number = isinstance(value, str) and re.fullmatch(r"\d+(\.\d*)?[eE][-+]?\d+", value)
    return float(value) if is_number else value


Real = Annotated[float, BeforeValidator(_from_yaml)]
"""A number in YAML."""
Names = Annotated[tuple[Name, ...], _OneOrSeveral()]
"""Any number of names."""
SomeNames = Annotated[tuple[Name, ...], Field(min_length=1), _OneOrSeveral()]
"""At least one name."""


Number = int | float
MOST_COUNT = 10**9
"""Largest value of a whole number without a range of its own."""
MOST_REAL = 10.0**6
"""Largest value of another number without a range of its own; seconds beyond it overflow timers."""
MOST_SEED = 2**32 - 1
"""Largest seed; libraries accept no larger one."""


def setting(
    default: Any, description: str, stage: str = "", *, least: Number = 0, most: Number | None = None
) -> Any:
    """Declare a setting with its default and description; a number also has a range.

    Parameters
    ----------
    stage : the first stage of a run that depends on it, if a group is used by several stages.
    least, most : the range of a number; it contains both.

    Examples
    --------
    >>> class Network(Settings):
    ...     layers: int = setting(5, "Rounds of message passing.", least=1, most=1000)
    >>> Network.bounds("layers")
    (1, 1000)
    >>> Network.from_mapping({"layers": 0}, "an example")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: an example: layers must be a whole number from 1 to 1000, not 0.
    """
    extra: Any = {"stage": stage} if stage else None
    if isinstance(default, bool) or not isinstance(default, int | float):
        return Field(default, description=description, json_schema_extra=extra)
    kind: type[Number] = type(default)
    usual = MOST_COUNT if kind is int else MOST_REAL
    declared: Any = Field(
        default,
        description=description,
        json_schema_extra=extra,
        ge=kind(least),
        le=kind(usual if most is None else most),
    )
    return declared


def range_text(least: Number, most: Number, value: Any) -> str:
    """What a number must be, as the end of a sentence.

    Examples
    --------
    >>> range_text(1, 1000, 0), range_text(0.0, 1e6, float("nan"))
    ('must be a whole number from 1 to 1000, not 0.', 'must be a number from 0 to 1000000, not nan.')
    """
    kind = "whole number" if isinstance(least, int) else "number"
    return f"must be a {kind} from {_plain(least)} to {_plain(most)}, not {brief(value)}."


def brief(value: Any) -> str:
    """A value of a user for a message, shortened if it is long.

    Examples
    --------
    >>> len(brief("a" * 1000)), brief(10**5000)
    (100, 'a number of more than 4300 digits')
    """
    try:
        return _SHORT.repr(value)
    except ValueError:
        return "a number of more than 4300 digits"


def _plain(number: Number) -> str:
    return str(int(number)) if number == int(number) else repr(number)


class Settings(BaseModel):
    """A group of settings with names, as in YAML; it is immutable and hashable."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    added: ClassVar[frozenset[str]] = frozenset()
    """Settings that are newer than stored results; see `identity`."""

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any], source: Source, section: str = "") -> Self:
        """Validate settings that are given by name.

        Parameters
        ----------
        source : the source of the settings, for messages.
        section : the name of the group, for messages.
        """
        cls.check_names(given, source, section)
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            wrong = {one["loc"][0] for one in error.errors() if one["loc"]}
            group = f"{section}." if section else ""
            if not wrong:
                reason = error.errors()[0]["msg"].removeprefix("Value error, ")
                raise InputError(f"{_place(source, next(iter(given)))}: {group}{reason}") from error
            name = next(name for name in given if name in wrong)
            fault = cls._fault(name, given[name])
            raise InputError(f"{_place(source, name)}: {group}{name} {fault}") from error

    @classmethod
    def check_names(cls, names: Iterable[str], source: Source, section: str = "") -> None:
        """Raise an error for names that are not settings; see `from_mapping`."""
        for name in names:
            if name not in cls.model_fields:
                group = f" in {section}" if section else ""
                hint = did_you_mean(name, cls.model_fields)
                raise InputError(f"{_place(source, name)}: there is no setting {name}{group}; {hint}")

    @classmethod
    def names(cls) -> list[str]:
        """The names of all settings.

        Examples
        --------
        >>> class Measurement(Settings):
        ...     max_steps: int = setting(1000, "Steps of a greedy execution, at most.")
        >>> Measurement.names()
        ['max_steps']
        """
        return list(cls.model_fields)

    @classmethod
    def description(cls, name: str) -> str:
        """The description of a setting, with its default."""
        item = cls.model_fields[name]
        default = ", ".join(item.default) if isinstance(item.default, tuple) else item.default
        return f"{item.description} [{default}]"

    @classmethod
    def choices(cls, name: str) -> tuple[str, ...]:
        """The names that are allowed as the value of a setting or as parts of it; empty if all are."""
        return _choices(cls.model_fields[name].annotation)

    @classmethod
    def _fault(cls, name: str, value: Any) -> str:
        """Why the value of a setting is invalid, as the end of a sentence."""
        if value is None:
            return "has no value; give one, or remove it."
        default, choices = cls.model_fields[name].default, ", ".join(cls.choices(name))
        if isinstance(default, tuple):
            allowed = f"some of {choices}" if choices else "a list of names"
        elif isinstance(default, bool | str):
            allowed = f"one of {choices or 'true, false'}"
        else:
            return range_text(*cls.bounds(name), value)
        return f"must be {allowed}, not {brief(value)}."

    @classmethod
    def bounds(cls, name: str) -> tuple[Number, Number]:
        """The range of a number, with both ends."""
        ranges = cls.model_fields[name].metadata
        least = max(one.ge for one in ranges if getattr(one, "ge", None) is not None)
        return least, min(one.le for one in ranges if getattr(one, "le", None) is not None)

    @classmethod
    def numbers(cls) -> list[str]:
        """The names of the settings that are numbers.

        Examples
        --------
        >>> class Features(Settings):
        ...     size: int = setting(8, "Symbols of a feature, at most.")
        ...     closures: bool = setting(True, "Whether closures are used.")
        >>> Features.numbers()
        ['size']
        """
        defaults = {name: item.default for name, item in cls.model_fields.items()}
        return [name for name, default in defaults.items() if type(default) in (int, float)]

    def replace(self, **changes: Any) -> Self:
        """A copy with other values for some settings, validated."""
        return self.model_validate({**dict(self), **changes})

    def to_mapping(self) -> dict[str, Any]:
        """The settings as plain data."""
        return self.model_dump(mode="json")

    def identity(self) -> dict[str, Any]:
        """The settings as plain data, for the keys of results.

        A setting in `added` is left out while it has its default, so results that were stored before it
        existed keep their keys.

        Examples
        --------
        >>> class Walks(Settings):
        ...     added = frozenset({"repeats"})
        ...     length: int = setting(20, "Steps.")
        ...     repeats: bool = setting(False, "Whether states are kept as often as they are visited.")
        >>> Walks().identity(), Walks(repeats=True).identity()
        ({'length': 20}, {'length': 20, 'repeats': True})
        """
        fields = type(self).model_fields
        return {
            name: value
            for name, value in self.to_mapping().items()
            if name not in self.added or getattr(self, name) != fields[name].default
        }

    def of_stage(self, stage: str) -> dict[str, Any]:
        """The settings whose first dependent stage is this one, as plain data.

        An empty list is left out. So a new setting whose default is an empty list does not change the keys of
        results that were stored before.

        Examples
        --------
        >>> class Features(Settings):
        ...     size: int = setting(8, "Symbols of a feature, at most.", stage="distil")
        ...     without: Names[str] = setting((), "What is left out.", stage="distil")
        >>> Features().of_stage("distil"), Features(without=("closures",)).of_stage("distil")
        ({'size': 8}, {'size': 8, 'without': ['closures']})
        """
        fields = type(self).model_fields
        return {
            name: value
            for name, value in self.to_mapping().items()
            if fields[name].json_schema_extra == {"stage": stage} and value != []
        }


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion for an unknown name, as the end of a message.

    Examples
    --------
    >>> did_you_mean("sed", ["seed", "mode"])
    'did you mean seed?'
    >>> did_you_mean("colour", ["seed", "mode"])
    'choose from seed, mode.'
    """
    listed = list(known)
    near = difflib.get_close_matches(str(name), listed, 1)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(listed)}."


def _place(source: Source, name: str) -> str:
    return source if isinstance(source, str) else source(name)


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next(filter(None, map(_choices, get_args(annotation))), ())
