"""A template of a config: every entry and setting with its meaning."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from distill.common import Settings
from distill.jobs.config import SOURCE
from distill.jobs.run_config import FILES, TRAINED
from distill.runs import SECTIONS

_INTRODUCTION = (
    "What to distil, on which states, and how. A setting behind # has its default; remove the # and give "
    "another value. Paths are relative to this file."
)
_WIDTH = 100


def config_template(entries: Mapping[str, str], schema: str | None = None) -> str:
    """The text of a config that lists all entries and settings, and gives values to some entries.

    Parameters
    ----------
    entries : `problem`, or `domain` with `instances`; and `checkpoint`, without which a network is trained.
    schema : the address of the JSON schema, for editors.

    Examples
    --------
    >>> text = config_template({"problem": "gripper"})
    >>> [line for line in text.splitlines() if line and "#" not in line]
    ['problem: gripper', 'labelling:', 'network:', 'training:', 'distillation:', 'evaluation:', 'export:']
    >>> "  # Seconds for each instance.\\n  #time_limit: 20.0\\n" in text
    True
    """
    lines = [f"# yaml-language-server: $schema={schema}"] if schema else []
    lines += [*_comment(_INTRODUCTION), ""]
    for name, text in {**SOURCE, **FILES}.items():
        lines += _comment(f"{text} Without one, a network is trained." if name in FILES else text)
        lines.append(f"{name}: {_shown(entries[name])}" if name in entries else f"#{name}: ...")
    for name, kind in SECTIONS.items():
        text = (kind.__doc__ or "").splitlines()[0]
        excluded = "checkpoint" in entries and name in TRAINED
        lines += ["", *_comment(f"{text} Not beside a checkpoint." if excluded else text)]
        lines += [f"#{name}:" if excluded else f"{name}:", *_settings(kind)]
    return "\n".join(lines) + "\n"


def _settings(kind: type[Settings]) -> Iterator[str]:
    for name, item in kind.model_fields.items():
        if item.exclude:
            continue
        text, choices, default = str(item.description), kind.choices(name), item.default
        if choices:
            text += f" {'Some' if isinstance(default, tuple) else 'One'} of {', '.join(choices)}."
        shown = _shown(list(default) if isinstance(default, tuple) else default)
        yield from ("  " + line for line in (*_comment(text), f"#{name}: {shown}"))


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _shown(value: Any) -> str:
    dumped: str = yaml.safe_dump(value, default_flow_style=True, width=1_000, allow_unicode=True)
    return dumped.removesuffix("...\n").strip()
