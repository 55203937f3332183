import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from distill.common import InputError
from distill.structures import read_archive, write_archive


def test_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write_archive(tmp_path / name, {"x": np.arange(5)}, {"kind": "k", "b": 1, "a": 2})
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_another_kind_is_refused(tmp_path: Path) -> None:
    write_archive(tmp_path / "x.npz", {}, {"kind": "apples"})
    with pytest.raises(InputError, match="holds 'apples', not 'pears'"):
        read_archive(tmp_path / "x.npz", "pears")


@pytest.mark.parametrize("damage", [b"", b"not a zip", None])
def test_damaged_files_are_told(tmp_path: Path, damage: bytes | None) -> None:
    file = tmp_path / "x.npz"
    write_archive(file, {"x": np.arange(1000)}, {"kind": "k"})
    file.write_bytes(file.read_bytes()[:-300] if damage is None else damage)
    with pytest.raises(InputError, match=r"x\.npz is damaged or has another format"):
        read_archive(file, "k")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_archive(tmp_path / "none.npz", "k")


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return Path.touch, (tmp_path / "exploded",)

    np.savez(tmp_path / "x.npz", metadata=np.array([Bomb()], dtype=object))
    (tmp_path / "y.npz").write_bytes(pickle.dumps(Bomb()))
    for name in ("x.npz", "y.npz"):
        with pytest.raises(InputError):
            read_archive(tmp_path / name, "k")
    assert not (tmp_path / "exploded").exists()


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    # A limit on the size of files fails a write half-way, as a full disk does.
    code = f"""
import resource, signal
import numpy as np
from pathlib import Path
from distill.common.errors import InputError
from distill.structures import write_archive
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    write_archive(Path({str(tmp_path)!r}) / "big.npz", {{"x": np.arange(100_000)}}, {{"kind": "k"}})
except InputError as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith("Cannot write")
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
