"""The folder that keeps runs: what is in it, and what was made of it."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from distill.errors import InputError
from distill.files import locked
from distill.jobs.folder import PART
from distill.jobs.job import JOBS, Status, status_file
from distill.jobs.run import Run


@dataclass(frozen=True)
class Store:
    """Runs in a folder; half-written ones are never among them.

    Attributes
    ----------
    folder : where they are kept.
    """

    folder: Path

    def runs(self) -> Iterator[Run]:
        """All runs that can be read, by name."""
        if not self.folder.is_dir():
            return
        for place in sorted(self.folder.iterdir()):
            if not place.name.startswith(".") and (place / "metrics.json").exists():
                try:
                    yield Run.load(place)
                except InputError:
                    continue

    def find(self, name: str) -> Run:
        """The run of a name, or of the beginning of one if no other begins so; or in a folder."""
        if (Path(name) / "metrics.json").exists():
            return Run.load(Path(name))
        names = [run.name for run in self.runs()]
        if name in names:
            return Run.load(self.folder / name)
        found = [one for one in names if one.startswith(name)] or [one for one in names if one.endswith(name)]
        if len(found) == 1:
            return Run.load(self.folder / found[0])
        if found:
            raise InputError(f"Several runs are called {name}…: {', '.join(found)}; say more of the name.")
        raise InputError(
            f"There is no run {name} in {self.folder}; `distill runs list --store {self.folder}` lists them."
        )

    def jobs(self) -> dict[str, Status]:
        """Jobs that failed or are not done, by the names of their runs."""
        found = {}
        for file in sorted((self.folder / JOBS).glob("*.json")):
            status = Status.read(file)
            if status is not None and not (self.folder / file.stem).exists():
                found[file.stem] = status
        return found

    def remove(self, run: Run) -> None:
        """Delete a run; it is gone at once, however long deleting takes."""
        gone = run.folder.with_name(f"{PART}removed-{run.name}")
        with locked(status_file(run.folder.parent, run.name)):
            try:
                run.folder.rename(gone)
            except OSError as error:
                raise InputError(f"Cannot remove {run.folder}: {error.strerror or error}.") from error
            shutil.rmtree(gone, ignore_errors=True)
