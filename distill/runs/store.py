"""The folder of runs: list, find and remove runs, and list unfinished jobs."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from distill.common import InputError, file_lock
from distill.runs.run import Run
from distill.runs.run_index import RunSummary, run_folders, run_summaries
from distill.runs.status import JOBS, Status, status_file
from distill.runs.writer import PART


@dataclass(frozen=True)
class Store:
    """The runs in a folder; incomplete runs are not listed.

    Attributes
    ----------
    folder : the path.
    """

    folder: Path

    def runs(self) -> Iterator[Run]:
        """All readable runs, by name."""
        for place in run_folders(self.folder):
            try:
                yield Run.load(place)
            except InputError:
                continue

    def summaries(self) -> tuple[list[RunSummary], list[str]]:
        """The main figures of all runs, newest first, and the names of unreadable runs."""
        return run_summaries(self.folder)

    def find(self, name: str) -> Run:
        """The run with a name, a unique prefix or suffix of a name, or a path."""
        if (Path(name) / "metrics.json").exists():
            return Run.load(Path(name))
        names = [run.name for run in self.runs()]
        if name in names:
            return Run.load(self.folder / name)
        found = [one for one in names if one.startswith(name)] or [one for one in names if one.endswith(name)]
        if len(found) == 1:
            return Run.load(self.folder / found[0])
        if found:
            raise InputError(f"Several runs are called {name}…: {', '.join(found)}; give more of the name.")
        raise InputError(
            f"There is no run {name} in {self.folder}; `distill runs list --store {self.folder}` lists them."
        )

    def jobs(self) -> dict[str, Status]:
        """Failed and unfinished jobs, by the names of their runs."""
        found = {}
        for file in sorted((self.folder / JOBS).glob("*.json")):
            status = Status.read(file)
            if status is not None and not (self.folder / file.stem).exists():
                found[file.stem] = status
        return found

    def remove(self, run: Run) -> None:
        """Delete a run; it is renamed first, so that it disappears at once."""
        gone = run.folder.with_name(f"{PART}removed-{run.name}")
        with file_lock(status_file(run.folder.parent, run.name)):
            try:
                run.folder.rename(gone)
            except OSError as error:
                raise InputError(f"Cannot remove {run.folder}: {error.strerror or error}.") from error
            shutil.rmtree(gone, ignore_errors=True)
