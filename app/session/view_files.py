"""Saved views of the workbench: small files in the folder of runs, shared by all users of the folder."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from distill.common import InputError, read_dataclass, read_json, write_json

VIEWS = ".views"
_LONGEST = 80  # characters of a name
_MOST = 20_000  # characters of a selection, which is part of an address


@dataclass(frozen=True)
class SavedView:
    """A page with its selection.

    Attributes
    ----------
    name : the name of the view.
    page : the address of the page.
    selection : the selected values, by key.
    made : the time of saving, in seconds since 1970.
    """

    name: str
    page: str
    selection: Mapping[str, str]
    made: float = 0.0


class Views:
    """The views of a folder of runs.

    Parameters
    ----------
    store : the folder of runs, which contains the views.

    Examples
    --------
    >>> import tempfile
    >>> views = Views(Path(tempfile.mkdtemp()))
    >>> views.save("Worst states", "accuracy", {"split": "test"})
    >>> [(view.name, view.page, dict(view.selection)) for view in views.every()[0]]
    [('Worst states', 'accuracy', {'split': 'test'})]
    """

    def __init__(self, store: Path) -> None:
        self.folder = store / VIEWS

    def every(self) -> tuple[list[SavedView], list[str]]:
        """All views by name, and the names of files that cannot be read."""
        views, wrong = [], []
        for file in sorted(self.folder.glob("*.json")):
            try:
                views.append(_read(file))
            except InputError:
                wrong.append(file.name)
        return sorted(views, key=lambda view: (view.name.lower(), view.name)), wrong

    def save(self, name: str, page: str, selection: Mapping[str, str]) -> None:
        """Save a view under a new name."""
        file = self._free(name)
        chosen = {str(key): str(value) for key, value in selection.items()}
        if sum(map(len, [*chosen, *chosen.values()])) > _MOST:
            raise InputError("The selection is too large for an address; select less.")
        write_json(file, {"name": checked_name(name), "page": page, "selection": chosen, "made": time.time()})

    def rename(self, name: str, other: str) -> None:
        """Give a view another name."""
        old = self._file(name)
        if checked_name(other) == name:
            return
        new = self._free(other)
        record = read_json(old)
        if not record:
            raise InputError(f"There is no view {name} any more.")
        write_json(new, {**record, "name": checked_name(other)})
        old.unlink(missing_ok=True)

    def delete(self, name: str) -> None:
        """Delete a view, if it exists."""
        try:
            self._file(name).unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"The view {name} cannot be deleted: {error.strerror or error}.") from error

    def _free(self, name: str) -> Path:
        file = self._file(name)
        if file.exists():
            raise InputError(f"There is a view {checked_name(name)} already; choose another name.")
        return file

    def _file(self, name: str) -> Path:
        """The file of a view. Its name is a checksum, so that no name is a path to another folder."""
        return self.folder / f"{hashlib.sha256(checked_name(name).encode()).hexdigest()[:16]}.json"


def checked_name(name: str) -> str:
    """The name of a view in its stored form: printable, not empty and not long.

    Examples
    --------
    >>> checked_name("  two   words ")
    'two words'
    """
    name = " ".join("".join(one if one.isprintable() else " " for one in name).split())
    if not name:
        raise InputError("A view needs a name; type one.")
    if len(name) > _LONGEST:
        raise InputError(f"A name has at most {_LONGEST} characters, not {len(name)}; choose a shorter one.")
    return name


def _read(file: Path) -> SavedView:
    view = read_dataclass(SavedView, file)
    return replace(view, name=checked_name(view.name))
