"""Numbers in configs, in `--set` and on the command line: in their range, or refused in one sentence."""

import contextlib
import functools
import io
import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import typer.main
import yaml

from distill.cli.config import check
from distill.cli.main import app
from distill.common import InputError
from distill.jobs import run_schema
from tests.support.hostile import Case, contents

BASE: dict[str, Any] = {"problem": "gripper", "distillation": {"pool": "enumerate"}}
ODD = [-1, 0, 1, 0.5, 1.0, 10**30, -(10**30), 1e308, -1e308, math.nan, math.inf, -math.inf]
WRONG = ["", "1e", "a", "1", "1_0", "٣", "9" * 5000, True, False, [], [1], {}, {"a": 1}]
TEXTS = [
    "",
    "1e",
    "a",
    "true",
    "[1]",
    "1,2",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1",
    "0",
    "0.5",
    "9" * 30,
    "9" * 5000,
]
BY_FILE, BY_CHANGE, BY_OPTION = "config", "--set", "option"


@dataclass(frozen=True)
class Number:
    """A number that a user can give.

    Attributes
    ----------
    path : the section and the name of a setting, with the family of networks between if there is one; or the
        command and the option.
    least, most : its range; None if none is declared.
    whole : whether it is a whole number.
    required : for an option, the arguments without which the command does not start.
    """

    path: tuple[str, ...]
    least: float | None
    most: float | None
    whole: bool
    required: int = 0

    @property
    def name(self) -> str:
        """What a message calls it."""
        return self.path[-1] if self.path[-1].startswith("-") else f"{self.path[0]}.{self.path[-1]}"

    def has(self, value: Any) -> bool:
        """Whether a value is of its type and in its range."""
        kinds = (int,) if self.whole else (int, float)
        return type(value) in kinds and bool(self.least <= value <= self.most)

    def values(self) -> list[Any]:
        """The ends of the range, values inside, and values next to it."""
        middle = (self.least + self.most) / 2
        near = [self.least, self.most, int(middle) if self.whole else middle]
        if self.whole:
            return [*near, self.least - 1, self.most + 1]
        return [*near, math.nextafter(self.least, -math.inf), math.nextafter(self.most, math.inf)]


@functools.cache
def settings() -> list[Number]:
    """All settings of configs that are numbers, from the JSON schema."""
    schema = run_schema()

    def walk(part: Any, path: tuple[str, ...]) -> Iterator[Number]:
        if "$ref" in part:
            part = functools.reduce(lambda whole, key: whole[key], part["$ref"].split("/")[1:], schema)
        for other in (*part.get("anyOf", ()), *part.get("oneOf", ()), *part.get("allOf", ())):
            yield from walk(other, path)
        if part.get("type") in ("integer", "number"):
            yield Number(path, part.get("minimum"), part.get("maximum"), part["type"] == "integer")
        inner = part.get("properties", {})
        family = inner.get("family", {}).get("const")
        for name, own in inner.items():
            yield from walk(own, (*path, family, name) if family else (*path, name))

    return list(walk(schema, ()))


@functools.cache
def command() -> Any:
    """The command line, built once."""
    return typer.main.get_command(app)


@functools.cache
def options() -> list[Number]:
    """All numeric options and arguments of all commands."""

    def walk(part: Any, path: tuple[str, ...]) -> Iterator[Number]:
        needed = sum(one.param_type_name == "argument" and one.required for one in part.params)
        for one in part.params:
            kinds = {one.type_descriptor.annotation, *get_args(one.type_descriptor.annotation)}
            if kinds & {int, float}:
                yield Number((*path, max(one.opts, key=len)), one.min, one.max, int in kinds, needed)
        for name, inner in getattr(part, "commands", {}).items():
            yield from walk(inner, (*path, name))

    return list(walk(command(), ()))


def every() -> Iterator[Case]:
    """Every number with every odd value, as a file, a change and an option."""
    for number in settings():
        for place, value in enumerate([*number.values(), *ODD, *WRONG]):
            yield _case(number, (BY_FILE, BY_CHANGE)[place % 2], value)
    for number in options():
        for text in [*map(repr, number.values()), *TEXTS]:
            yield _case(number, BY_OPTION, text)


def cases(number: int, seed: int) -> Iterator[Case]:
    """Random numbers of all magnitudes for random settings and options."""
    rng = random.Random(seed)
    for _ in range(number):
        form = rng.choice((BY_FILE, BY_CHANGE, BY_OPTION))
        one = rng.choice(options() if form == BY_OPTION else settings())
        magnitude = rng.choice((1, -1)) * 10 ** rng.uniform(-3, rng.choice((2, 12, 40)))
        value = rng.choice((int(magnitude), magnitude, rng.uniform(one.least, one.most), *one.values()))
        yield _case(one, form, repr(value) if form == BY_OPTION else value)


def _case(number: Number, form: str, value: Any) -> Case:
    return Case(
        f"{form} {'.'.join(number.path)} = {str(value)[:40] if form == BY_OPTION else type(value)}",
        (number, form, value),
    )


def failure(case: Case, folder: Path) -> str | None:
    """What is wrong with the answer to a number."""
    number, form, value = case.data
    before = contents(folder)
    inside = _text_is_inside(number, value) if form == BY_OPTION else number.has(value)
    told, error = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            _give_option(number, value, inside) if form == BY_OPTION else _give_setting(
                number, form, value, folder
            )
    except InputError as caught:
        error = str(caught)
    except Exception as caught:
        return f"{value!r:.60}: it raised {caught!r:.300}"
    if contents(folder).keys() - before.keys() - {"run.yaml"}:
        return f"{value!r:.60}: it wrote files"
    if inside:
        return error and f"{value!r:.60} is in the range, but was refused: {error}"
    if error is None:
        return f"{value!r:.60} is not in the range, but was accepted"
    asked = f"from {_shown(number.least)} to {_shown(number.most)}"
    told = f"{asked}, not " in error or f"{asked} or auto, not " in error
    if number.name not in error or not told or "\n" in error or len(error) > 1000:
        return f"{value!r:.60}: the sentence is {error!r}"
    return None


def _give_setting(number: Number, form: str, value: Any, folder: Path) -> None:
    section, *family, name = number.path
    content = {**BASE, section: dict(BASE.get(section, {}))}
    if family:
        content[section]["family"] = family[0]
    changes = []
    if form == BY_FILE:
        content[section][name] = value
    else:
        text = yaml.safe_dump(value, default_flow_style=True, width=10**6).removesuffix("...\n").strip()
        changes = [f"{section}.{name}={text}"]
    (folder / "run.yaml").write_text(yaml.safe_dump(content))
    check(folder / "run.yaml", changes, True)


def _give_option(number: Number, text: str, inside: bool) -> None:
    """Give an option to its command; a value in the range is parsed only, so that no work begins."""
    *path, name = number.path
    given = [*["x"] * number.required, f"{name}={text}"] if name.startswith("-") else ["--", text]
    if not inside:
        command().main([*path, *given], prog_name="distill", standalone_mode=False)
        return
    found = functools.reduce(lambda group, inner: group.commands[inner], path, command())
    found.make_context(path[-1], given)


def _text_is_inside(number: Number, text: str) -> bool:
    if number.whole:
        return re.fullmatch(r"-?[0-9]{1,40}", text) is not None and number.has(int(text))
    try:
        return number.has(float(text))
    except ValueError:
        return False


def _shown(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
