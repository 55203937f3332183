"""Damaged runs: refused or listed as damaged, unlike the runs beside them; none passes as verified."""

import copy
import functools
import hashlib
import io
import json
import os
import random
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from distill.common import InputError
from distill.runs import Run, Store, verify_run
from tests.support.commands import distill
from tests.support.hostile import Case, contents, refused
from tests.support.hostile.certificates import at, others, places, replaced
from tests.support.swap_run import swap_run

GOOD, BAD = "good-1", "bad-2"
UNCHECKED = ("version", "stages", "code", "network.format")  # entries of inputs.json that nothing else states
HARD = ("metrics.json", "inputs.json", "model.json", "config.yaml", "trees.json", "predictions.parquet")


@functools.cache
def original() -> Path:
    """The folder of a small complete run."""
    return swap_run(Path(tempfile.mkdtemp()).resolve()).folder


def cases(number: int, seed: int) -> Iterator[Case]:
    """Runs with one file damaged at a random place; half of the time with checksums that fit."""
    rng = random.Random(seed)
    names = sorted(contents(original()))
    for count in range(number):
        name = rng.choice(names if count % 2 else [*HARD, "states/train.npz", "log.jsonl"])
        content = (original() / name).read_bytes()
        kinds: list[Callable[[random.Random, bytes], Any]] = [_bytes, _bytes, _whole]
        if name.endswith((".json", ".yaml", ".jsonl")):
            kinds += [_text, _values, _values, _values]
        if name.endswith(".npz"):
            kinds += [_members, _members]
        if name.endswith(".parquet"):
            kinds += [_columns]
        how = rng.choice(kinds)
        parse = {".yaml": yaml.safe_load, ".jsonl": None}.get(Path(name).suffix, json.loads)
        damaged = _values(rng, content, name, parse) if how is _values else how(rng, content)
        signed, command = rng.random() < 0.5, rng.choice(sorted(COMMANDS))
        yield Case(f"{count} {name} {how.__name__}", (name, damaged, signed, command))


def _bytes(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 5))):
        place, width = rng.randrange(len(content) or 1), rng.choice((0, 1, 1, 2, 40, len(content)))
        piece = rng.choice((rng.randbytes(1), rng.randbytes(3), b"", b"1", b'"', b"}", b"\0", b"\xff"))
        content = content[:place] + piece + content[place + width :]
    return content


def _whole(rng: random.Random, content: bytes) -> Any:
    """Another content, or no regular file (the name of what is there instead)."""
    other = (b"", b"\0" * 100, b"null", b"[]", b"{}", b"7", b"\xef\xbb\xbf" + content, content * 2)
    return rng.choice((*other, "missing", "folder", "pipe", "link"))


def _text(rng: random.Random, content: bytes) -> bytes:
    deep = rng.choice((50, 150, 5_000, 200_000))
    choice: tuple[bytes, ...] = (
        b"[" * deep + b"]" * deep,
        b'{"a":' * deep + b"1" + b"}" * deep,
        b"9" * 10_000,
        b"1e999",
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        content.replace(b"0", b"NaN", 1),
        content.replace(b"1", b"1e999", 1),
        content.replace(b"1", b"9" * 5_000, 1),
        content.replace(b"]", b"," + b"[" * deep + b"]" * deep + b"]", 1),
    )
    return rng.choice(choice)


def _values(rng: random.Random, content: bytes, name: str = "", parse: Any = None) -> bytes:
    """One to three values replaced; a line of a log is a whole of its own."""
    if parse is None:
        lines = content.splitlines()
        number = rng.randrange(len(lines))
        lines[number] = _values(rng, lines[number], name, json.loads)
        return b"\n".join(lines)
    whole = parse(content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        found = list(places(whole))
        # Most values of a file are deep inside; those near the top matter as much.
        near = [place for place in found if len(place) <= 2]
        place = rng.choice(rng.choice((found, near)))
        whole = replaced(whole, place, rng.choice(others(at(whole, place))))
    text = yaml.safe_dump(whole) if name.endswith(".yaml") else json.dumps(whole)
    return text.encode()


def _members(rng: random.Random, content: bytes) -> bytes:
    """An archive with an array that has other values, another shape, type or name, or other metadata."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    name = rng.choice([*arrays, "metadata"])
    array = arrays.pop(name)
    if name == "metadata":
        array = np.frombuffer(_values(rng, array.tobytes(), "", json.loads), dtype=np.uint8)
    elif rng.random() < 0.5 and array.size:
        array = array.copy()
        array.flat[rng.randrange(array.size)] = rng.choice((-1, -7, 0, 1, 10**6, 2**31 - 1))
    else:
        shapes = (array[:-1], array.astype(np.float64), array[None], array.astype("U"), np.zeros(0), None)
        array = rng.choice(shapes)
    if array is not None:
        arrays[name] = array
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    if rng.random() < 0.2:
        return _with_header(rng, stream.getvalue())
    return stream.getvalue()


def _with_header(rng: random.Random, content: bytes) -> bytes:
    """An archive in which one array claims another size."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for name in (names := old.namelist()):
            text = old.read(name)
            if name == names[0]:
                text = text.replace(b"(", b"(" + rng.choice((b"9", b"999999999", b"-")), 1)
            new.writestr(name, text)
    return made.getvalue()


def _columns(rng: random.Random, content: bytes) -> bytes:
    table = pd.read_parquet(io.BytesIO(content))
    name = rng.choice(list(table))
    change: Callable[[], pd.DataFrame] = rng.choice(
        [
            lambda: table.drop(columns=name),
            lambda: table.rename(columns={name: "x"}),
            lambda: table[:-1],
            lambda: table.assign(**{name: "a"}),
            lambda: table.assign(**{name: 0.5}),
            lambda: pd.concat([table, table]),
        ]
    )
    stream = io.BytesIO()
    change().to_parquet(stream, index=False)
    return stream.getvalue()


def failure(case: Case, folder: Path) -> str | None:
    """What is wrong with the list of a damaged run and a good one, the verification, or one more command."""
    store, out = folder / "store", folder / "out"
    shutil.copytree(original(), store / GOOD)
    shutil.copytree(original(), store / BAD)
    name, damaged, signed, command = case.data
    _place(store / BAD / name, damaged, folder)
    if signed and name != "inputs.json" and (store / BAD / name).is_file():
        _sign(store / BAD, name)
    before = contents(store)
    arguments = [str(one).format(store=store, bad=BAD, good=GOOD, out=out) for one in COMMANDS[command]]
    at_work = "the list"
    try:
        if wrong := _listed(store):
            return wrong
        at_work = "verify_run"
        if agrees(store / BAD) and (wrong := _verified(store / BAD, name)):
            return wrong
        at_work = command
        done = distill(*arguments)
    except Exception as error:
        return f"{at_work} raised {type(error).__name__}: {str(error)[:300]}"
    if done.returncode and (wrong := refused(done)):
        return f"{command}: {wrong}"
    return f"{command} changed files of the store" if contents(store) != before else None


COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("runs", "list", "--store", "{store}", "--json"),
    "table": ("runs", "list", "--store", "{store}"),
    "show": ("runs", "show", "{bad}", "--store", "{store}"),
    "show as JSON": ("runs", "show", "{bad}", "--store", "{store}", "--json"),
    "compare": ("runs", "compare", "{good}", "{bad}", "--store", "{store}"),
    "verify": ("verify-run", "{bad}", "--store", "{store}"),
    "verify as JSON": ("verify-run", "{bad}", "--store", "{store}", "--json", "--no-execution"),
    "export": ("export", "{bad}", "--store", "{store}", "--format", "all", "--out", "{out}"),
    "page": ("export", "{bad}", "--store", "{store}", "--format", "html"),
    "evaluate": ("evaluate", "{store}/{bad}", "--beyond"),
    "families": ("families", "{bad}", "--store", "{store}"),
    "network": ("checkpoint", "info", "{store}/{bad}/network.safetensors"),
}


def _place(file: Path, damaged: Any, folder: Path) -> None:
    file.unlink()
    match damaged:
        case bytes():
            file.write_bytes(damaged)
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to(folder / "nowhere")


def _sign(run: Path, name: str) -> None:
    inputs = json.loads((run / "inputs.json").read_text())
    if name in inputs["files"]:
        inputs["files"][name] = hashlib.sha256((run / name).read_bytes()).hexdigest()
        (run / "inputs.json").write_text(json.dumps(inputs))


def _listed(store: Path) -> str | None:
    """The good run is listed, the other one too or as damaged, unless nothing shows that it is a run."""
    runs, damaged = Store(store).summaries()
    names = {one.name for one in runs}
    if GOOD not in names or GOOD in damaged:
        return "the good run is not listed"
    if not all(damaged.values()):
        return "no reason is given for a damaged run"
    return None if (BAD in names) != (BAD in damaged) else "the damaged run is not listed"


def agrees(run: Path) -> bool:
    """Whether a run is verified, as by `distill verify-run`."""
    try:
        return all(check.agrees for check in verify_run(Run.load(run)))
    except InputError as error:
        if not str(error).strip():
            raise ValueError("a refusal without a sentence") from error
        return False


def _declared(new: Any, old: Any) -> Any:
    """What is new without entries that the original does not have: other versions may write more."""
    if not (isinstance(new, dict) and isinstance(old, dict)):
        return new
    return {key: _declared(new[key], one) for key, one in old.items() if key in new}


def _verified(run: Path, name: str) -> str | None:
    """What was called verified although it differs from the original."""
    new, old = ((place / name).read_bytes() for place in (run, original()))
    inputs = [json.loads((place / "inputs.json").read_text()) for place in (run, original())]
    if name == "inputs.json":
        for one in inputs:
            for entry in UNCHECKED:
                inner, _, last = entry.rpartition(".")
                (one[inner] if inner else one).pop(last, None)
        same = _declared(*inputs) == inputs[1]
        return None if same else "another inputs.json is verified"
    if new == old or name == "log.jsonl":
        return None
    if inputs[0]["files"][name] == inputs[1]["files"][name]:
        return f"another {name} with the old checksum is verified"
    mine, theirs = Run.load(run), Run.load(original())
    compared: dict[str, Callable[[Run], Any]] = {
        "metrics.json": lambda one: _without(one.metrics, "objects", "fit"),
        "model.json": lambda one: (str(one.value_function.value), len(one.value_function.pool)),
        "predictions.parquet": lambda one: (
            one.predictions()[["split", "v_star", "value"]].to_numpy().tolist()
        ),
        "states/train.npz": lambda one: one.states("train").key,
        "states/test.npz": lambda one: one.states("test").key,
    }
    tell = compared.get(name)
    if tell is None and not name.startswith("value."):
        return None  # other files are only read, if their checksums fit
    if tell is None or tell(mine) != tell(theirs):
        return f"another {name} with a new checksum is verified"
    return None


def _without(whole: Any, *names: str) -> Any:
    found = copy.deepcopy(dict(whole))
    for name in names:
        found.pop(name, None)
    # Numbers agree up to rounding.
    return json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 6))
