"""Views of the workbench with names: small files beside the runs, for all who use the same folder."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from distill.errors import InputError
from distill.watch import read_json, write_json

VIEWS = ".views"
_LONGEST = 80  # characters of a name
_MOST = 20_000  # characters of a selection, which a browser takes as an address


@dataclass(frozen=True)
class SavedView:
    """What a page showed.

    Attributes
    ----------
    name : what somebody called it.
    page : the address of the page.
    selection : what was selected on it, by key.
    made : when it was saved, in seconds since 1970.
    """

    name: str
    page: str
    selection: Mapping[str, str]
    made: float = 0.0


class Views:
    """The views of a folder of runs.

    Parameters
    ----------
    store : the folder of runs; views are kept inside.

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
        found, wrong = [], []
        for file in sorted(self.folder.glob("*.json")):
            try:
                found.append(_read(file))
            except (InputError, KeyError, TypeError, ValueError, AttributeError):
                wrong.append(file.name)
        return sorted(found, key=lambda view: (view.name.lower(), view.name)), wrong

    def save(self, name: str, page: str, selection: Mapping[str, str]) -> None:
        """Save a view under a name that no other has."""
        file = self._free(name)
        chosen = {str(key): str(value) for key, value in selection.items()}
        if sum(map(len, [*chosen, *chosen.values()])) > _MOST:
            raise InputError("So much is selected that no address can hold it; select less.")
        write_json(file, {"name": checked_name(name), "page": page, "selection": chosen, "made": time.time()})

    def rename(self, name: str, other: str) -> None:
        """Give a view another name."""
        old = self._file(name)
        if checked_name(other) == name:
            return
        new = self._free(other)
        told = read_json(old)
        if not told:
            raise InputError(f"There is no view {name} any more.")
        write_json(new, {**told, "name": checked_name(other)})
        old.unlink(missing_ok=True)

    def delete(self, name: str) -> None:
        """Take a view away; one that is gone already is no error."""
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
        """A view's file; its name is a checksum, so that no name leads anywhere else."""
        return self.folder / f"{hashlib.sha256(checked_name(name).encode()).hexdigest()[:16]}.json"


def checked_name(name: str) -> str:
    """A name as it is kept: printable, not empty and not long.

    Examples
    --------
    >>> checked_name("  two   words ")
    'two words'
    """
    found = " ".join("".join(one if one.isprintable() else " " for one in name).split())
    if not found:
        raise InputError("A view needs a name; type one.")
    if len(found) > _LONGEST:
        raise InputError(f"A name has at most {_LONGEST} characters, not {len(found)}; choose a shorter one.")
    return found


def _read(file: Path) -> SavedView:
    told = read_json(file)
    selection = {str(key): str(value) for key, value in told["selection"].items()}
    return SavedView(
        checked_name(str(told["name"])), str(told["page"]), selection, float(told.get("made", 0))
    )
