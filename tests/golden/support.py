"""What the golden tests share. This is the only module of them that imports the product.

Write the expected data anew with `python -m pytest tests/golden --write-golden`, at a state that is known to
be right, and read the difference before you commit it. Tests that are run so are skipped.
"""

import contextlib
import hashlib
import json
import math
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from tests.support.commands import distill

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
EXPECTED, FILES = HERE / "expected", HERE / "files"
DEMO = ROOT / "app" / "demo" / "gripper-gripper-cdbf1f09"
CLASSES = ("blocks-clear", "blocks-on", "gripper", "miconic", "visitall")
_DIGITS = 6
_CLOSE = 2e-4  # a run writes some numbers with four decimals, which may round either way
_LIBRARIES = ("matplotlib", "numpy", "pandas", "pyarrow", "safetensors", "scipy", "torch")


@dataclass(frozen=True)
class Golden:
    """Compares what was found with expected data, or writes them.

    Attributes
    ----------
    write : write the expected data instead.
    """

    write: bool = False

    def check(self, texts: Mapping[str, str]) -> None:
        """Each text must equal the file of its name in `expected`."""
        for name, text in texts.items():
            file = EXPECTED / name
            if self.write:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, newline="")
            else:
                # read without translation of line ends: the comparison is of bytes
                assert text == file.read_bytes().decode(), f"{name} has changed"

    def check_answer(self, name: str, found: Any) -> None:
        """JSON must equal the file of its name, but for the last digits of computed numbers."""
        if self.write:
            self.check({name: as_text(found)})
        else:
            differences = list(different(found, json.loads((EXPECTED / name).read_text())))
            assert not differences, f"{name} has changed: {'; '.join(differences[:5])}"

    def check_digests(self, name: str, files: Mapping[str, bytes]) -> None:
        """Files must be the expected ones by name and, where machine and libraries are the same, by bytes."""
        found = {place: hashlib.sha256(content).hexdigest() for place, content in files.items()}
        record = {"environment": environment(), "sha256": found}
        if self.write:
            self.check({name: as_text(record)})
            return
        expected = json.loads((EXPECTED / name).read_text())
        assert sorted(found) == sorted(expected["sha256"])
        if expected["environment"] == record["environment"]:
            assert found == expected["sha256"]


def environment() -> dict[str, str]:
    """What the last digits of floating-point numbers, and the bytes of figures, depend on."""
    import torch

    capability = torch.backends.cpu.get_cpu_capability()
    blas = " ".join(sorted({one["architecture"] for one in threadpool_info() if "architecture" in one}))
    processor = {"machine": platform.machine(), "cpu": capability, "blas": blas}
    return processor | {name: version(name) for name in _LIBRARIES}


@dataclass(frozen=True)
class World:
    """A folder of small files in which commands are run.

    Attributes
    ----------
    base : the folder. `runs` in it is where runs are kept.
    """

    base: Path

    @staticmethod
    def make(base: Path) -> "World":
        shutil.copytree(FILES / "blocks", base, dirs_exist_ok=True)
        return World(base)

    def distill(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder."""
        with contextlib.chdir(self.base):
            return distill(*arguments, DISTILL_CACHE=str(self.base / "cache"))

    def text(self, *arguments: object) -> str:
        """What a command prints; it must succeed."""
        done = self.distill(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def answer(self, *arguments: object, code: int = 0) -> Any:
        """What a command answers with --json, without times and whole paths."""
        done = self.distill(*arguments, "--json")
        assert done.returncode == code, done.stderr
        return self.plain(json.loads(done.stdout))

    def run(self, config: str, *options: object, store: str = "runs") -> Path:
        """Make a run, or find it made; its folder."""
        made = self.answer("run", config, "--out", store, "--workers", 1, *options)["run"]
        return self.base / made

    def plain(self, found: Any, key: str = "") -> Any:
        """An answer without times and whole paths, and with few enough digits to be the same everywhere."""
        if isinstance(found, dict):
            inner = key if key == "seconds" else ""
            return {self.plain(name): self.plain(value, inner or name) for name, value in found.items()}
        if isinstance(found, list):
            return [self.plain(one, key) for one in found]
        if isinstance(found, str):
            return found.replace(f"{self.base}/", "").replace(f"{ROOT}/", "PROJECT/")
        if isinstance(found, float):
            return "SECONDS" if key == "seconds" else float(f"{found:.{_DIGITS}g}")
        return found


def different(found: Any, expected: Any, place: str = "") -> Iterator[str]:
    """Where two JSON values differ; the last digits of floating-point numbers depend on the processor."""
    if isinstance(found, float) and isinstance(expected, float):
        if not math.isclose(found, expected, rel_tol=_CLOSE, abs_tol=_CLOSE):
            yield f"{place} is {found}, not {expected}"
    elif isinstance(found, dict) and isinstance(expected, dict) and list(found) == list(expected):
        for key in found:
            yield from different(found[key], expected[key], f"{place}.{key}")
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from different(one, other, f"{place}[{number}]")
    elif found != expected:
        yield f"{place} is {found!r}, not {expected!r}"


def as_text(found: Any) -> str:
    """JSON that people can read and compare, with lists of numbers in one line."""
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    return re.sub(r"\[[-\d.,\se]*\]", lambda numbers: re.sub(r"\s+", " ", numbers[0]), text)


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of all files in a folder by their paths."""
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}


def kinds_in(found: Any) -> Any:
    """The keys of JSON with the types of their values; the items of a list are one if they look the same."""
    if isinstance(found, dict):
        return {key: kinds_in(value) for key, value in found.items()}
    if isinstance(found, list):
        items: list[Any] = []
        for one in map(kinds_in, found):
            if one not in items:
                items.append(one)
        return items
    return type(found).__name__


def archive_header(file: Path) -> dict[str, Any]:
    """Metadata, names, dtypes and shapes of a numpy archive."""
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: [str(archive[name].dtype), list(archive[name].shape)] for name in archive.files}
        metadata = json.loads(bytes(archive["metadata"]).decode())
    arrays.pop("metadata")
    return {"arrays": arrays, "metadata": metadata}


def checkpoint_header(file: Path) -> dict[str, Any]:
    """Metadata, names, dtypes and shapes of a safetensors file, with numbers of the record by their types."""
    content = file.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    metadata = header.pop("__metadata__")
    tensors = {name: [one["dtype"], one["shape"]] for name, one in header.items()}
    return {"tensors": tensors, "metadata": {key: _parsed(value) for key, value in metadata.items()}}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def command_tree() -> dict[str, list[str]]:
    """All commands with their arguments and options: names, types, defaults; no help texts.

    The order of options is left out, that of arguments is not.
    """
    import typer.main

    from distill.cli.main import app

    found: dict[str, list[str]] = {}

    def walk(command: Any, path: tuple[str, ...]) -> None:
        by_kind: dict[str, list[str]] = {"argument": [], "option": []}
        for one in command.params:
            by_kind[one.param_type_name].append(_parameter(one))
        found[" ".join(path)] = by_kind["argument"] + sorted(by_kind["option"])
        for name in sorted(getattr(command, "commands", {})):
            walk(command.commands[name], (*path, name))

    walk(typer.main.get_command(app), ("distill",))
    return found


def _parameter(one: Any) -> str:
    annotation = one.type_descriptor.annotation
    kind = str(annotation) if getattr(annotation, "__args__", ()) else annotation.__name__
    known = {"default": one.default, "min": one.min, "max": one.max, "nargs": one.nargs}
    usual = {"default": None, "min": None, "max": None, "nargs": 1}
    flags = [name for name in ("required", "multiple") if getattr(one, name)]
    more = [f"{name}={value}" for name, value in known.items() if value != usual[name]]
    return " ".join([one.param_type_name, *one.opts, *one.secondary_opts, kind, *flags, *more])


def distilled_files(problem: Path, checkpoint: Path, cache: Path) -> dict[str, str]:
    """The files of the value function that a run with default settings has, without the rest of the run."""
    from distill.distillation import distil
    from distill.explanations import FORMS
    from distill.networks import Checkpoint, one_thread
    from distill.planning import prepare_reduced, problem_class
    from distill.runs import Export

    declared = problem_class(str(problem))
    splits = [declared.split(name) for name in declared.splits]
    with one_thread():
        sets = {one.name: prepare_reduced(one, reduce="none", cache=cache)[0] for one in splits}
        function = distil(Checkpoint.load(checkpoint), sets).explanation
    function.save(cache / "model.json")
    bounds, words = function.bounds(sets.values()), sets["train"].vocabulary
    texts = {
        FORMS[form].file: function.export(form, words, bounds if FORMS[form].two_variables else None) + "\n"
        for form in Export().formats
    }
    return {"model.json": (cache / "model.json").read_text()} | texts


def open_data_set(file: Path) -> dict[str, Any]:
    """What a data set archive says, as the product reads it."""
    from distill.structures import DataSet

    data = DataSet.load(file)
    structures = data.structures()
    return {
        "key": data.key,
        "summary": data.summary(),
        "v_star": data.v_star.tolist(),
        "predicates": [predicate.name for predicate in data.vocabulary],
        "atoms": {name: np.asarray(atoms).tolist() for name, atoms in structures.relations.items()},
    }


def open_quotient(file: Path) -> dict[str, Any]:
    """What a quotient archive says, as the product reads it."""
    from distill.structures import Quotient

    quotient = Quotient.load(file)
    return {
        "rows": [len(layer) for layer in quotient.layers],
        "histograms": [layer.histogram.toarray().tolist() for layer in quotient.layers],
        "multiplicity": quotient.multiplicity.tolist(),
        "v_star": quotient.labels["v_star"].tolist(),
        "stable": quotient.stable,
    }
