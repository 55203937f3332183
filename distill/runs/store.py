"""The folder of runs: list, find and remove runs, and list unfinished jobs."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from distill.common import InputError, file_lock, read_dataclass, shown
from distill.runs.run import RUN_FILES, Run, is_run
from distill.runs.run_index import RunSummary, run_folders, run_summaries
from distill.runs.status import FAILED, JOBS, Status, status_file
from distill.runs.writer import PART

_STATES = "states"


@dataclass(frozen=True)
class Store:
    """The runs in a folder; incomplete runs are not listed.

    Attributes
    ----------
    folder : the path.
    """

    folder: Path

    def runs(self) -> Iterator[Run]:
        """All runs that can be read, by name."""
        for place in run_folders(self.folder):
            try:
                yield Run.load(place)
            except InputError:
                continue

    def summaries(self) -> tuple[list[RunSummary], dict[str, str]]:
        """The main figures of all runs, newest first; by name, why the other runs cannot be read."""
        return run_summaries(self.folder)

    def find(self, name: str) -> Run:
        """The run with a name, a unique prefix or suffix of a name, or a path."""
        return Run.load(self.folder_of(name))

    def folder_of(self, name: str) -> Path:
        """The folder of the run with a name, a unique prefix or suffix of a name, or a path; see `find`."""
        if is_run(Path(name)):
            return Path(name)
        names = [place.name for place in run_folders(self.folder)]
        if name in names:
            return self.folder / name
        found = [one for one in names if one.startswith(name)] or [one for one in names if one.endswith(name)]
        if len(found) == 1:
            return self.folder / found[0]
        if found:
            raise InputError(
                f"Several runs are called {shown(name)}…: {', '.join(found)}; give more of the name."
            )
        raise InputError(
            f"There is no run {shown(name)} in {self.folder}; `distill runs list --store {self.folder}` "
            "lists them."
        )

    def jobs(self) -> dict[str, Status]:
        """Failed and unfinished jobs, by the names of their runs; one with a damaged status has failed."""
        found = {}
        for file in sorted((self.folder / JOBS).glob("*.json")):
            if (self.folder / file.stem).exists():
                continue
            try:
                found[file.stem] = read_dataclass(Status, file)
            except InputError as error:
                if os.path.lexists(file):  # otherwise the job has ended meanwhile
                    found[file.stem] = Status(FAILED, error=str(error))
        return found

    def removable(self, name: str) -> Path:
        """The folder of a run, damaged or not, that may be removed; see `find` for names.

        It lies directly in the store, it is no link, and it has files of a run only.
        """
        folder = self.folder_of(name)
        refused = f"{shown(folder)} is not removed:"
        if folder.is_symlink() or folder.resolve().parent != self.folder.resolve():
            raise InputError(f"{refused} it is not a folder of the store {self.folder}; give its --store.")
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(folder).as_posix()
            known = (
                place == _STATES
                if path.is_dir()
                else fnmatch(place, f"{_STATES}/*.npz") or place in RUN_FILES
            )
            if path.is_symlink() or not known:
                raise InputError(
                    f"{refused} it contains {shown(place)}, which no run writes; move that elsewhere."
                )
        return folder

    def remove(self, folder: Path) -> None:
        """Delete the folder of a run; it is renamed first, so that it disappears at once."""
        gone = folder.with_name(f"{PART}removed-{folder.name}")
        with file_lock(status_file(folder.parent, folder.name)):
            try:
                folder.rename(gone)
            except OSError as error:
                raise InputError(f"Cannot remove {folder}: {error.strerror or error}.") from error
            shutil.rmtree(gone, ignore_errors=True)
