"""A run in which every name is markup: files that somebody sends are not to be trusted."""

import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import torch
import yaml

from distill.runs import Run, checksum
from distill.structures import read_archive, write_archive

PICTURE = "<img src=x onerror=alert(1)>"
LINK = "[b](javascript:alert(2))"
ELSEWHERE = "![c](http://forged.invalid/c.png)"
ALL = f"{PICTURE}<script>alert(3)</script>{LINK}{ELSEWHERE}**bold**$\\frac12$ :red[zq] `zq` :material/home: http://zq.invalid"
NAME = f"forged {PICTURE} [b](x) **bold**"  # a folder's name holds no slash
PREDICATE = f"p{PICTURE}{LINK}**q**"


def forge(source: Path, store: Path, predicate: str = "clear") -> Run:
    """A copy of a run with markup for the names of a predicate, of objects, of instances and of splits."""
    folder = Path(shutil.copytree(source, store / NAME))
    for file in ("model.json", "trees.json"):
        whole = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(_renamed(whole, predicate)))
    for file in sorted((folder / "states").glob("*.npz")):
        _forge_states(file, predicate)
    _forge_metrics(folder / "metrics.json")
    config = yaml.safe_load((folder / "config.yaml").read_text())
    config |= {"problem": ALL, "domain": ALL, "checkpoint": ALL, ALL: ALL}
    config["distillation"] |= {"mode": ALL, "pool": ALL, "control": ALL, "linkage": ALL}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    for file in folder.glob("value.*"):
        file.write_text(f"{ALL}\n")
    steps = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    steps = [{**step, "stage": f"{step['stage']}/{ALL}"} for step in steps]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, steps)))
    inputs = json.loads((folder / "inputs.json").read_text())
    inputs |= {"version": ALL, "network": {"key": ALL, "format": ALL}}
    inputs["files"] = {name: checksum(folder / name) for name in inputs["files"]}
    (folder / "inputs.json").write_text(json.dumps(inputs))
    return Run.load(folder)


def _renamed(whole: Any, predicate: str) -> Any:
    """A predicate and its goals with another name, wherever they are in JSON."""
    if isinstance(whole, dict):
        return {key: _renamed(value, predicate) for key, value in whole.items()}
    if isinstance(whole, list):
        return [_renamed(value, predicate) for value in whole]
    if isinstance(whole, str) and whole in (predicate, f"{predicate}_G"):
        return whole.replace(predicate, PREDICATE)
    return whole


def _forge_states(file: Path, predicate: str) -> None:
    arrays, metadata = read_archive(file, "labelled states")
    metadata["vocabulary"] = _renamed(metadata["vocabulary"], predicate)
    metadata["origin"] = {"split": ALL}
    for instance in metadata["instances"]:
        instance["name"] = ALL
        instance["objects"] = [f"{name}{ALL}" for name in instance["objects"]]
    write_archive(file, arrays, metadata)


def _forge_metrics(file: Path) -> None:
    metrics = json.loads(file.read_text())
    metrics["pool"] = ALL
    metrics["fit"]["blocking"] = [{"v_star": 1, "atoms": ALL}]
    metrics["fit"]["conflict"] = [{"v_star": 1, "atoms": ALL}, {"v_star": 2, "atoms": ALL}]
    metrics[ALL] = ALL
    file.write_text(json.dumps(metrics))


class Wicked:
    """Runs a command when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self):
        return os.system, (f"touch {self.file}",)


def wicked_file(made: Path) -> bytes:
    """A checkpoint that makes a file when a careless reader opens it."""
    stream = io.BytesIO()
    torch.save({"state_dict": {}, "wicked": Wicked(made)}, stream)
    return stream.getvalue()
