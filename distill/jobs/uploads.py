"""Files that people give to the workbench: kept beside the runs, and trusted in nothing.

They are limited in size, and read first by a process that has little time and memory; only what it could
read is kept. A file is kept under a name made from its content. Of the name that it came with, letters,
digits and hyphens remain, for people.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from distill.errors import InputError
from distill.files import written_whole
from distill.watch import read_json, write_json

UPLOADS = ".uploads"
NETWORK, PROBLEM = "network", "problem"
SUFFIXES = {NETWORK: ("safetensors", "pt", "pth", "ckpt"), PROBLEM: ("pddl",)}
MEGABYTES = {NETWORK: 50, PROBLEM: 1}
"""How large a file of each kind may be."""
MOST_FILES = 500
_ABOUT = "about.json"
_DOMAIN, _INSTANCES = "domain", "instances"
_KNOWN = ("format", "parameters", "domain", "predicates", "objects")
_SECONDS, _MEMORY = 60, 4 * 2**30
_LIMITED = f"""
import resource
for kind, most in (("AS", {_MEMORY}), ("CPU", {_SECONDS}), ("CORE", 0)):
    try:
        resource.setrlimit(getattr(resource, "RLIMIT_" + kind), (most, most))
    except (OSError, ValueError):
        pass
from {{module}} import main
main()
"""
File = tuple[str, bytes]
"""The name that a file came with, and its content."""


@dataclass(frozen=True)
class Uploaded:
    """Something that was given and could be read.

    Attributes
    ----------
    folder : where it is kept.
    kind : `network` or `problem`.
    name : what it came with; never a path.
    entries : of a config that uses it.
    about : what is known of it.
    """

    folder: Path
    kind: str
    name: str
    entries: Mapping[str, str]
    about: Mapping[str, Any]

    @property
    def key(self) -> str:
        """A name made from the content."""
        return self.folder.name


def keep_network(store: Path, file: File) -> Uploaded:
    """Keep the file of a network, if it is one; nothing in it is run.

    Parameters
    ----------
    store : the folder of runs; files are kept inside.
    """
    check_size(NETWORK, file)
    suffix = _suffix(NETWORK, file[0])
    kept = f"{safe_name(file[0])}.{suffix}"
    told = ["checkpoint", "info", "{}/" + kept, "--json"]
    return _keep(store, NETWORK, file[0], {kept: file[1]}, {"checkpoint": kept}, "distill.cli", told)


def keep_problem(store: Path, domain: File, instances: Sequence[File]) -> Uploaded:
    """Keep a PDDL domain with its instances, if they can be read.

    Parameters
    ----------
    store : the folder of runs; files are kept inside.
    """
    if not instances:
        raise InputError("There are no instances; give some PDDL files besides the domain.")
    if len(instances) > MOST_FILES:
        raise InputError(f"{len(instances)} instances are too many; give at most {MOST_FILES}.")
    for file in (domain, *instances):
        check_size(PROBLEM, file)
        _suffix(PROBLEM, file[0])
    kept = f"{safe_name(domain[0])}.pddl"
    files = {kept: domain[1]}
    for number, (name, content) in enumerate(instances, 1):
        # A folder of instances may hold the domain, which is left out there by its name.
        files[f"{_INSTANCES}/{number:03d}-{safe_name(name).replace(_DOMAIN, 'd')}.pddl"] = content
    entries = {_DOMAIN: kept, _INSTANCES: _INSTANCES}
    told = ["{}/" + kept, "{}/" + _INSTANCES]
    return _keep(store, PROBLEM, domain[0], files, entries, "distill.planning.checking", told)


def keep_config(store: Path, text: str) -> Path:
    """Keep the text of a config, so that who does it later can read it."""
    file = store.resolve() / UPLOADS / "configs" / f"{_digest([text.encode()])}.yaml"
    if not file.exists():
        with written_whole(file) as stream:
            stream.write(text.encode())
    return file


def uploads(store: Path, kind: str) -> list[Uploaded]:
    """What was given so far, newest first."""
    folders = [file.parent for file in (store.resolve() / UPLOADS).glob(f"*/{_ABOUT}")]
    found = [one for folder in folders if (one := _kept(folder, kind)) is not None]
    return sorted(found, key=lambda one: (-one.folder.stat().st_mtime_ns, one.key))


def _kept(folder: Path, kind: str) -> Uploaded | None:
    """What a folder holds, if it is of this kind."""
    told = read_json(folder / _ABOUT)
    try:
        entries = {key: str(folder / inside) for key, inside in told["entries"].items()}
        found = Uploaded(folder, str(told["kind"]), str(told["name"]), entries, dict(told["about"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return found if found.kind == kind else None


def check_size(kind: str, file: File) -> None:
    """Refuse an empty file, and one that is too large for its kind."""
    name, content = _shown(file[0]), file[1]
    if not content:
        raise InputError(f"{name} is empty; give another file.")
    if len(content) > MEGABYTES[kind] * 2**20:
        size = f"{len(content) / 2**20:.1f} MB"
        raise InputError(f"{name} has {size}; a {kind}'s file may have {MEGABYTES[kind]} MB.")


def safe_name(name: str) -> str:
    """What remains of the name of a file: it says something to people and leads nowhere.

    Examples
    --------
    >>> safe_name("../../etc/My Net.v2.pt"), safe_name("..")
    ('my-net-v2', 'file')
    """
    stem = PurePosixPath(name.replace("\\", "/").replace("\0", "")).name.rpartition(".")[0] or name
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:30].strip("-") or "file"


def _suffix(kind: str, name: str) -> str:
    found = name.rpartition(".")[2].lower()
    if found not in SUFFIXES[kind]:
        raise InputError(f"{_shown(name)}: a {kind} comes in files that end with {_listed(SUFFIXES[kind])}.")
    return found


def _listed(suffixes: Sequence[str]) -> str:
    return ", ".join(f".{one}" for one in suffixes)


def _shown(name: str) -> str:
    """The name that a file came with, as a short text."""
    return "".join(one for one in name if one.isprintable())[:80] or "A file"


def _digest(parts: Sequence[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


def _keep(
    store: Path,
    kind: str,
    name: str,
    files: Mapping[str, bytes],
    entries: Mapping[str, str],
    module: str,
    arguments: Sequence[str],
) -> Uploaded:
    """Write files, let another process read them, and keep them if it can."""
    home = store.resolve() / UPLOADS
    key = _digest(
        [kind.encode(), *(part for path, content in files.items() for part in (path.encode(), content))]
    )
    place = home / key
    if _kept(place, kind) is None:
        try:
            home.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=home, prefix=".part-") as temporary:
                part = Path(temporary) / key
                for path, content in files.items():
                    (part / path).parent.mkdir(parents=True, exist_ok=True)
                    (part / path).write_bytes(content)
                found = _read_apart(module, [one.format(part) for one in arguments], part, _shown(name))
                about = {key: found[key] for key in _KNOWN if key in found}
                write_json(
                    part / _ABOUT,
                    {"kind": kind, "name": _shown(name), "entries": dict(entries), "about": about},
                )
                if place.exists():  # half of an earlier one
                    shutil.rmtree(place, ignore_errors=True)
                part.rename(place)
        except OSError as error:
            raise InputError(
                f"{_shown(name)} cannot be kept in {home}: {error.strerror or error}."
            ) from error
    kept = _kept(place, kind)
    if kept is None:
        raise InputError(f"{_shown(name)} was kept in {home}, but is not there any more; give it again.")
    return kept


def _read_apart(module: str, arguments: Sequence[str], part: Path, name: str) -> dict[str, Any]:
    """What a process that has little time and memory finds out about files; it answers in JSON."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(  # noqa: S603  (a list of arguments; no shell reads it)
            [sys.executable, "-c", _LIMITED.format(module=module), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=2 * _SECONDS,
            check=False,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{name} takes too long to read; give a smaller or simpler one.") from error
    said = done.stderr.decode(errors="replace")
    if done.returncode == 2 and "Error: " in said:
        sentence = " ".join(said.rpartition("Error: ")[2].split())
        raise InputError(sentence.replace(f"{part}/", "").replace(str(part), name))
    try:
        found = json.loads(done.stdout)
        if done.returncode == 0 and isinstance(found, dict):
            return found
    except ValueError:
        pass
    raise InputError(
        f"{name} cannot be read: whoever tries runs out of time or memory, or crashes; give another one."
    )
