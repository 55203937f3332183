"""Hostile addresses and uploads: every page shows names as they are, and nothing is written elsewhere.

The pages show the run that comes along, and a copy of it with markup in all names.
"""

import atexit
import functools
import io
import os
import pickle
import random
import re
import shutil
import string
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from app.session.uploaded_files import MEGABYTES, UPLOADS, save_network, save_problem
from distill.common import InputError
from distill.planning import problem_class
from tests.support.forged_run import NAME, forge
from tests.support.hostile import Case
from tests.support.paths import DEMO

_PAGE = """
import streamlit as st
from app.components.escape import escape
from app.pages import {page}
from distill.common import InputError
try:
    {page}.show()
except InputError as error:
    st.error(escape(error))
"""
MARKUP = (
    "<img src=zq onerror=alert(1)>", "<script>zq</script>", "![zq](http://zq.invalid/c.png)",
    "[zq](javascript:alert(1))", "**zq**", "$zq$", ":red[zq]", ":material/home:", "`zq`", "http://zq.invalid",
    "www.zq.invalid", "\n# zq\n", "|zq|\n|--|\n", "zq -> zq", "</svg><script>zq</script>",
)  # fmt: skip
# What of the markup above is still markup, in what Streamlit reads as markdown, with backslashes and without.
_ACTIVE = re.compile(
    r"<(?:img|script|svg)|\]\(|\*\*(?:zq|bold|q\*)|\$(?:zq|\\frac)|:red\[|`zq`|^# zq|^\|zq", re.MULTILINE
)
_ACTIVE_LATER = re.compile(r":material/\w|https?://\w|www\.zq|\bzq -> zq")
_PICTURE = re.compile(r"!\[(?:\\.|[^\]\\])*\]\(data:image/svg\+xml;base64,[\w+/=]+\)")
_ESCAPED = re.compile(r"\\(.)")
_CODE = re.compile(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)")
_READ_AS_MARKDOWN = ("body", "label", "help", "delta", "tooltip")
_PLAIN = ("Text", "Code", "Json", "Exception")
_KEYS: dict[str, tuple[str, ...]] = {
    "runs": ("find", "problem", "exact", "sweep"),
    "value": ("split", "order", "terms_find", "terms_page", "chosen"),
    "formulas": ("formula", "open", "card", "inside", "levels", "search", "used", "split", "state", "atoms",
                 "objects", "simplify", "said", "way"),
    "states": ("split", "state", "formula", "instance", "v_star", "drawing", "plan", "step", "way"),
    "accuracy": ("of", "see", "split", "v", "looked", "instance"),
    "trees": ("split", "state", "object", "layer", "tree", "way", "sets", "formula", "coloured"),
    "expressivity": ("split", "colouring", "conflict", "pair", "part"),
    "laboratory": ("formula", "add", "drop", "again", "base", "fit", "split", "state", "objects"),
    "compare": ("runs", "part"),
    "start": ("network", "problem", "distillation.seed", "distillation.pool", "labelling.max_states"),
}  # fmt: skip
_VALID = ("0", "1", "7", "train", "test", "validation", "#at", "#<at>at-robby", "[#at > 1]", "emlc", "latex",
          "english", "network", "Worst states", "Greedy choices", "Try it", "gripper", "1 2", "fires", "all",
          "none", DEMO.name, NAME, f"{DEMO.name},{NAME}", "(at ball1 rooma)", "ball1 rooma")  # fmt: skip
_ODD = (
    "", " ", "-1", "1e9", "nan", "inf", "0x1", "9" * 40, "1.5", "٣", "\x00", "a\0b", "\ud7ff\uffff", "é",
    "\u202eevil", "../../etc/passwd", "/etc/passwd", "%2e%2e/", "__import__('os').system('touch zq')",
    "{0.__class__}", "(" * 5_000, "~" * 20_000, "#<on>" * 2_000, "x" * 100_000, "[" * 900 + "]" * 900,
    "None", "true", "{}", "[]", "1,1,1", "-", "0 0 0 -1", "\r\nSet-Cookie: a=b", "()()", "#", "#<at^-1>",
    "exists x (exists y", "<at>" * 60 + "at",
)  # fmt: skip


@functools.cache
def store() -> Path:
    """A folder with a run in which all names are markup; the run that comes along is listed as well."""
    place = Path(tempfile.mkdtemp(prefix="hostile-app-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    forge(DEMO, place / "runs", predicate="at")
    return place / "runs"


def cases(number: int, seed: int) -> Iterator[Case]:
    """Addresses of all pages in turn, and every fifth time an upload."""
    rng = random.Random(seed)
    pages = list(_KEYS)
    for count in range(number):
        if count % 5 == 4:
            kind, files = _upload(rng)
            yield Case(f"{count} upload of {kind}", (None, files))
            continue
        page = pages[(count - count // 5) % len(pages)]
        address = {"run": rng.choice((DEMO.name, NAME, NAME, NAME))}
        if rng.random() < 0.1:
            address["run"] = _value(rng)
        if rng.random() < 0.6:
            address["notation"] = rng.choice(
                ("ascii", "emlc", "c2", "english", "latex", "dlplan", _value(rng))
            )
        for key in rng.sample(_KEYS[page], min(len(_KEYS[page]), rng.choice((0, 1, 1, 2, 3, 9)))):
            address[key] = _value(rng)
        yield Case(f"{count} {page} {str(address)[:300]}", (page, address))


def _value(rng: random.Random) -> str:
    chosen = rng.choice(rng.choice((_VALID, _VALID, MARKUP, _ODD)))
    if chosen and rng.random() < 0.3:
        place = rng.randrange(len(chosen))
        piece = rng.choice((*MARKUP, *string.punctuation, "", "0", "\n", " "))
        chosen = chosen[:place] + piece + chosen[place + rng.choice((0, 1)) :]
    return chosen


def _upload(rng: random.Random) -> tuple[str, tuple[Callable[..., Any], Any]]:
    """A network or a problem with hostile names and contents."""
    problem = problem_class("gripper")
    domain, instance = problem.domain.text.encode(), problem.make("train")[0].text.encode()
    if rng.random() < 0.7:
        kind, content = rng.choice(list(_contents(domain).items()))
        # Contents that would be parsed take seconds; most are refused before.
        suffix = rng.choice((".exe", "", ".pt.txt", ".safetensors", ".yaml", "/", ".pt\0"))
        suffix = (
            suffix if kind not in ("nothing", "too much") else rng.choice((".pt", ".safetensors", ".ckpt"))
        )
        return f"a network, {kind}", (save_network, ((_name(rng) + suffix, content),))
    kind = rng.choice(("domain", "instance", "markup", "names", "many", "wrong suffix", "too large", "twice"))
    given = {
        "domain": ((_name(rng) + ".pddl", _damaged(rng, domain)), [("a.pddl", instance)]),
        "instance": (("d.pddl", domain), [(_name(rng) + ".pddl", _damaged(rng, instance))]),
        "markup": (("d.pddl", domain.replace(b"rooma", rng.choice(MARKUP).encode())),
                   [("a.pddl", instance.replace(b"ball1", rng.choice(MARKUP).encode()))]),
        "names": ((_name(rng) + ".pddl", domain), [(_name(rng) + ".PDDL", instance)] * 2),
        "many": (("d.pddl", domain), [("a.pddl", b"x")] * 501),
        "wrong suffix": (("d.pddl", domain), [(_name(rng), instance)]),
        "too large": (("d.pddl", b" " * (MEGABYTES["problem"] * 2**20 + 1)), [("a.pddl", instance)]),
        "twice": (("d.pddl", instance), [("a.pddl", domain)]),
    }  # fmt: skip
    return f"a problem, {kind}", (save_problem, given[kind])


def _name(rng: random.Random) -> str:
    return rng.choice(
        (*MARKUP, *_ODD, "../../../tmp/zq", "/zq", "C:\\zq", "~/zq", ".", "..", "a/" * 300, "con")
    )


def _contents(text: bytes) -> dict[str, bytes]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../zq", "zq")
        archive.writestr("archive/data.pkl", pickle.dumps(print))
    return {
        "nothing": b"", "too much": b"\0" * (MEGABYTES["network"] * 2**20 + 1), "PDDL": text,
        "a zip": packed.getvalue(), "half a zip": packed.getvalue()[:-20], "a pickle": pickle.dumps(print),
        "bytes": bytes(range(256)) * 40,
        "a header": (2**62).to_bytes(8, "little") + b"{}",
    }  # fmt: skip


def _damaged(rng: random.Random, content: bytes) -> bytes:
    place = rng.randrange(len(content))
    piece = rng.choice((b"(", b")", b"\0", b"\xff\xfe", b"<script>", b";", b"(and " * 3_000, b"?x" * 9))
    rest = b"" if rng.random() < 0.3 else content[place + 1 :]
    return content[:place] + piece + rest


def failure(case: Case, folder: Path) -> str | None:
    """What is wrong with the answer: an exception, markup, or a change outside the folder of uploads."""
    page, content = case.data
    before = _listed(store().parent), _listed(Path.cwd(), deep=False)
    found = _shown(page, content) if page else _uploaded(content, folder / "runs")
    if (_listed(store().parent), _listed(Path.cwd(), deep=False)) != before:
        return "it changed the runs or the current folder"
    outside = [one for one in folder.iterdir() if one.name != "runs"] + [
        one for one in (folder / "runs").glob("*") if one.name != UPLOADS
    ]
    return found or (f"it wrote {outside}" if outside else None)


def _listed(folder: Path, deep: bool = True) -> dict[str, tuple[int, int]]:
    found = folder.rglob("*") if deep else folder.iterdir()
    return {str(one): (one.stat().st_size, one.stat().st_mtime_ns) for one in found if one.is_file()}


def _shown(page: str, address: dict[str, str]) -> str | None:
    at = AppTest.from_string(_PAGE.format(page=page), default_timeout=120)
    for key, value in address.items():
        at.query_params[key] = value
    main = sys.modules["__main__"]  # which Streamlit replaces
    try:
        with patch.dict(os.environ, {"DISTILL_STORE": str(store())}):
            at.run()
    except Exception as error:
        return f"it raised {error!r}"
    finally:
        sys.modules["__main__"] = main
    if at.exception:
        return f"it shows {at.exception[0].message or at.exception[0].value}"
    if not list(at.main):
        return "it shows nothing"
    return next(filter(None, map(_interpreted, [*at.main, *at.sidebar])), None)


def _interpreted(element: Any) -> str | None:
    """The markup in an element that Streamlit would show as such."""
    proto = getattr(element, "proto", None)
    kind = type(proto).__name__
    if proto is None or kind in _PLAIN or not hasattr(proto, "DESCRIPTOR"):
        return None
    for name, value in _texts(proto):
        if "Traceback (most" in value:
            return f"a traceback in {kind}.{name}"
        if name == "body" and value.startswith("$$"):
            wrong: object = "$$" in value.strip()[2:-2] or "\\href" in value
        else:
            rest = _CODE.sub("", _PICTURE.sub("", value))
            wrong = _ACTIVE.search(_ESCAPED.sub("", rest)) or _ACTIVE_LATER.search(_ESCAPED.sub(r"\1", rest))
        if wrong:
            return f"markup in {kind}.{name}: {value[:300]!r}"
    return None


def _texts(proto: Any) -> Iterator[tuple[str, str]]:
    """The texts of an element that are read as markdown."""
    for field, value in proto.ListFields():
        if isinstance(value, str):
            if field.name in _READ_AS_MARKDOWN:
                yield field.name, value
        elif hasattr(value, "ListFields") and type(value).__name__ not in _PLAIN:
            yield from _texts(value)


def _uploaded(content: tuple[Callable[..., Any], Any], runs: Path) -> str | None:
    save, arguments = content
    try:
        kept = save(runs, *arguments)
    except InputError as error:
        told = str(error)
        if "\n" in told or not told.isprintable() or len(told) > 600:
            return f"not a sentence: {told[:600]!r}"
        left = [one for one in (runs / UPLOADS).rglob("*") if one.is_file()] if runs.exists() else []
        return f"refused, but {left[0]} stays" if left else None
    except Exception as error:
        return f"it raised {error!r}"
    inside = {str(one) for one in (runs / UPLOADS).rglob("*")}
    away = [path for path in kept.entries.values() if path not in inside]
    return f"{away[0]} is elsewhere" if away else None
