"""Files that users upload to the workbench. They are stored with the runs and are not trusted.

Their size is limited. A process with little time and memory parses them first, and only files that it can
parse are stored. The folder of an upload is named after the content. The name of the file keeps only
letters, digits and hyphens.
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

from distill.common import InputError, atomic_write, read_json, write_json

UPLOADS = ".uploads"
NETWORK, PROBLEM = "network", "problem"
SUFFIXES = {NETWORK: ("safetensors", "pt", "pth", "ckpt"), PROBLEM: ("pddl",)}
MEGABYTES = {NETWORK: 50, PROBLEM: 1}
"""The largest size of a file, by kind."""
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
"""The name and the content of an uploaded file."""


@dataclass(frozen=True)
class Upload:
    """A network or a problem that was uploaded and could be parsed.

    Attributes
    ----------
    folder : the folder that stores it.
    kind : `network` or `problem`.
    name : the original name; never a path.
    entries : the entries of a config that uses it.
    about : its properties, such as the number of parameters.
    """

    folder: Path
    kind: str
    name: str
    entries: Mapping[str, str]
    about: Mapping[str, Any]

    @property
    def key(self) -> str:
        """A hash of the content."""
        return self.folder.name


def save_network(store: Path, file: File) -> Upload:
    """Store the file of a network, if it is one; nothing in the file is executed.

    Parameters
    ----------
    store : the folder of runs, which contains the uploads.
    """
    check_size(NETWORK, file)
    suffix = _suffix(NETWORK, file[0])
    name = f"{safe_name(file[0])}.{suffix}"
    arguments = ["checkpoint", "info", "{}/" + name, "--json"]
    return _save(store, NETWORK, file[0], {name: file[1]}, {"checkpoint": name}, "distill.cli", arguments)


def save_problem(store: Path, domain: File, instances: Sequence[File]) -> Upload:
    """Store a PDDL domain with its instances, if they can be parsed.

    Parameters
    ----------
    store : the folder of runs, which contains the uploads.
    """
    if not instances:
        raise InputError("There are no instances; give some PDDL files besides the domain.")
    if len(instances) > MOST_FILES:
        raise InputError(f"{len(instances)} instances are too many; give at most {MOST_FILES}.")
    for file in (domain, *instances):
        check_size(PROBLEM, file)
        _suffix(PROBLEM, file[0])
    domain_name = f"{safe_name(domain[0])}.pddl"
    files = {domain_name: domain[1]}
    for number, (name, content) in enumerate(instances, 1):
        # A folder of instances may contain the domain; a file with `domain` in its name is ignored there.
        files[f"{_INSTANCES}/{number:03d}-{safe_name(name).replace(_DOMAIN, 'd')}.pddl"] = content
    entries = {_DOMAIN: domain_name, _INSTANCES: _INSTANCES}
    arguments = ["{}/" + domain_name, "{}/" + _INSTANCES]
    return _save(store, PROBLEM, domain[0], files, entries, "distill.planning.pddl_check", arguments)


def save_config(store: Path, text: str) -> Path:
    """Store the text of a config for the process that runs it later."""
    file = store.resolve() / UPLOADS / "configs" / f"{_digest([text.encode()])}.yaml"
    if not file.exists():
        with atomic_write(file) as stream:
            stream.write(text.encode())
    return file


def uploads(store: Path, kind: str) -> list[Upload]:
    """All uploads of a kind, newest first."""
    folders = [file.parent for file in (store.resolve() / UPLOADS).glob(f"*/{_ABOUT}")]
    found = [one for folder in folders if (one := _load(folder, kind)) is not None]
    return sorted(found, key=lambda one: (-one.folder.stat().st_mtime_ns, one.key))


def _load(folder: Path, kind: str) -> Upload | None:
    """The upload in a folder, if it has this kind."""
    record = read_json(folder / _ABOUT)
    try:
        entries = {key: str(folder / inside) for key, inside in record["entries"].items()}
        upload = Upload(folder, str(record["kind"]), str(record["name"]), entries, dict(record["about"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return upload if upload.kind == kind else None


def check_size(kind: str, file: File) -> None:
    """Raise an error if a file is empty or too large for its kind."""
    name, content = _shown(file[0]), file[1]
    if not content:
        raise InputError(f"{name} is empty; give another file.")
    if len(content) > MEGABYTES[kind] * 2**20:
        size = f"{len(content) / 2**20:.1f} MB"
        raise InputError(f"{name} has {size}; a {kind}'s file may have {MEGABYTES[kind]} MB.")


def safe_name(name: str) -> str:
    """A safe form of the name of a file: it is readable and contains no path.

    Examples
    --------
    >>> safe_name("../../etc/My Net.v2.pt"), safe_name("..")
    ('my-net-v2', 'file')
    """
    stem = PurePosixPath(name.replace("\\", "/").replace("\0", "")).name.rpartition(".")[0] or name
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:30].strip("-") or "file"


def _suffix(kind: str, name: str) -> str:
    suffix = name.rpartition(".")[2].lower()
    if suffix not in SUFFIXES[kind]:
        allowed = ", ".join(f".{one}" for one in SUFFIXES[kind])
        raise InputError(f"{_shown(name)}: a {kind} comes in files that end with {allowed}.")
    return suffix


def _shown(name: str) -> str:
    """The original name of a file, as a short printable text."""
    return "".join(one for one in name if one.isprintable())[:80] or "A file"


def _digest(parts: Sequence[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


def _save(
    store: Path,
    kind: str,
    name: str,
    files: Mapping[str, bytes],
    entries: Mapping[str, str],
    module: str,
    arguments: Sequence[str],
) -> Upload:
    """Write files, let another process parse them, and store them if it succeeds."""
    home = store.resolve() / UPLOADS
    key = _digest(
        [kind.encode(), *(part for path, content in files.items() for part in (path.encode(), content))]
    )
    place = home / key
    if _load(place, kind) is None:
        try:
            home.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=home, prefix=".part-") as temporary:
                part = Path(temporary) / key
                for path, content in files.items():
                    (part / path).parent.mkdir(parents=True, exist_ok=True)
                    (part / path).write_bytes(content)
                answer = _parse(module, [one.format(part) for one in arguments], part, _shown(name))
                about = {key: answer[key] for key in _KNOWN if key in answer}
                record = {"kind": kind, "name": _shown(name), "entries": dict(entries), "about": about}
                write_json(part / _ABOUT, record)
                if place.exists():  # an incomplete earlier upload
                    shutil.rmtree(place, ignore_errors=True)
                part.rename(place)
        except OSError as error:
            raise InputError(
                f"{_shown(name)} cannot be stored in {home}: {error.strerror or error}."
            ) from error
    upload = _load(place, kind)
    if upload is None:
        raise InputError(f"{_shown(name)} was stored in {home}, but is not there any more; give it again.")
    return upload


def _parse(module: str, arguments: Sequence[str], part: Path, name: str) -> dict[str, Any]:
    """The JSON answer of a process with little time and memory that parses the files."""
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
    log = done.stderr.decode(errors="replace")
    if done.returncode == 2 and "Error: " in log:
        sentence = " ".join(log.rpartition("Error: ")[2].split())
        raise InputError(sentence.replace(f"{part}/", "").replace(str(part), name))
    try:
        answer = json.loads(done.stdout)
        if done.returncode == 0 and isinstance(answer, dict):
            return answer
    except ValueError:
        pass
    raise InputError(f"{name} cannot be read within the limits of time and memory; give another one.")
