"""Forged and damaged certificates: refused, or what they say is true, or it is listed as not checked."""

import gzip
import json
import os
from pathlib import Path

import pytest

from distill.checker import CannotCheckError, CertificateError, reading, recheck
from tests.support.commands import distill
from tests.support.hostile import certificates as hostile, refused
from tests.support.samples import some_and_all

NAMES = ["right", "wrong", "marked", "aside", "aside, wrong", "given", "lights", "no symmetry", "old"]


def failures(cases, folder: Path) -> list[str]:
    found = [(case.name, hostile.failure(case, folder)) for case in cases]
    assert found
    return [f"{name}: {reason}" for name, reason in found if reason]


@some_and_all(25)
@pytest.mark.parametrize("name", NAMES)
def test_every_value_forged(name, step, tmp_path):
    assert not failures(hostile.forgeries(name, step), tmp_path)


def test_the_certificates_are_all_there():
    assert sorted(hostile.originals()) == sorted(NAMES)


def test_values_that_agree_with_each_other_but_not_with_the_truth(tmp_path):
    assert not failures(hostile.lies(), tmp_path)


@some_and_all(10)
def test_damage_at_random_places(step, tmp_path):
    assert not failures(list(hostile.cases(300, seed=0))[::step], tmp_path)


@pytest.mark.parametrize("lie", sorted(set(hostile.LIES) - {"symmetry", "not set aside", "right after all"}))
def test_lies_about_a_right_function_are_refused(lie, tmp_path):
    case = next((one for one in hostile.lies() if one.name == f"right: {lie}"), None)
    if lie == "another counterexample":
        assert case is None
        return
    (tmp_path / "c.json").write_text(json.dumps(case.data[0]))
    with pytest.raises(CertificateError):
        recheck(tmp_path / "c.json")


def test_a_wrong_function_cannot_be_called_right(tmp_path):
    cases = [case for case in hostile.lies() if case.name.endswith(": right after all")]
    assert cases
    for case in cases:
        (tmp_path / "c.json").write_text(json.dumps(case.data[0]))
        with pytest.raises(CertificateError):
            recheck(tmp_path / "c.json")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.json", b""),
        ("c.json", b"\x00\xff\xfe" * 50),
        ("c.json", b"[" * 100_000),
        ("c.json", b'{"a":' * 100_000),
        ("c.json", b"[]"),
        ("c.json", b'"text"'),
        ("c.json", b"7" * 10_000),
        ("c.json", b'{"kind": NaN}'),
        ("c.json", b'{"kind": 1, "kind": 2}'),
        ("c.json", gzip.compress(b"{}", mtime=0)),
        ("c.json.gz", b"{}"),
        ("c.json.gz", b""),
        ("c.json.gz", gzip.compress(b"{}", mtime=0)[:-9]),
        ("c.json.gz", gzip.compress(b"{}", mtime=0) + b"more"),
        ("c.json.gz", gzip.compress(b"\0" * 2**25)),
        ("c.json.gz", gzip.compress(b"[" + b"[]," * 2**23, 9)),
    ],
)
def test_files_that_are_no_certificates(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CannotCheckError):
        recheck(tmp_path / name)
    assert refused(distill("recheck", tmp_path / name), (2,)) is None


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path, tmp_path / "pipe.json", tmp_path / "none.json", Path("a\0b"), Path("x" * 5_000)):
        with pytest.raises(CannotCheckError):
            recheck(path)


def test_a_file_is_not_read_beyond_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_MOST_BYTES", 1_000)
    (tmp_path / "c.json").write_text(json.dumps(hostile.originals()["right"]))
    with pytest.raises(CannotCheckError, match="too large"):
        recheck(tmp_path / "c.json")
