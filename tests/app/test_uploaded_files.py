"""Files from people: limited, read by a process of their own, kept under names that lead nowhere."""

from pathlib import Path

import pytest

from app.session import uploaded_files as uploads
from app.session.uploaded_files import safe_name, save_config, save_network, save_problem
from distill.common import InputError
from distill.jobs import RunConfig
from distill.planning import problem_class
from tests.support.forged_run import wicked_file
from tests.support.small_jobs import small_content


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> bytes:
    small_content(folder := tmp_path_factory.mktemp("small"))
    return (folder / "net.safetensors").read_bytes()


def blocks() -> tuple[bytes, list[bytes]]:
    problem = problem_class("blocks-clear")
    return problem.domain.text.encode(), [one.text.encode() for one in problem.make("train")[:3]]


def kept(store: Path) -> list[str]:
    folder = store / uploads.UPLOADS
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_a_network_is_kept_once_under_a_name_from_its_content(tmp_path, network) -> None:
    store = tmp_path / "runs"
    first = save_network(store, ("../../../etc/My net.safetensors", network))
    file = Path(first.entries["checkpoint"])
    assert file.read_bytes() == network
    assert file.parent.parent == store.resolve() / ".uploads"
    assert file.name == "my-net.safetensors"
    assert first.about["parameters"] > 0
    assert uploads.uploads(store, "network") == [first]
    assert uploads.uploads(store, "problem") == []
    assert list(tmp_path.iterdir()) == [store]


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path) -> None:
    made = tmp_path / "made"
    with pytest.raises(InputError, match="refused, nothing was run") as error:
        save_network(tmp_path / "runs", ("wicked.pt", wicked_file(made)))
    assert "wicked.pt" in str(error.value)
    assert str(tmp_path) not in str(error.value)
    assert not made.exists()
    assert kept(tmp_path / "runs") == []


def test_a_problem_becomes_a_config(tmp_path, network) -> None:
    domain, instances = blocks()
    files = [(f"../domain {number}.pddl", text) for number, text in enumerate(instances)]
    found = save_problem(tmp_path, ("blocks domain.pddl", domain), files)
    assert found.about["domain"] == "blocks"
    assert len(found.about["objects"]) == 3
    content = {**found.entries, "distillation": {"pool": "enumerate"}}
    splits = RunConfig.from_mapping(content, Path(), lambda *keys: "a test").splits()
    assert sum(len(split.instances) for split in splits) == 3
    assert save_problem(tmp_path, ("blocks domain.pddl", domain), files) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"(define (domain d)", r"broken\.pddl, line 1: this bracket is not closed"),
        (b"\xff\xfe\x00", r"broken\.pddl"),
        (b"(define (domain d) (:predicates (p ?x)) (:functions (f)) (:action a :parameters (?x) :effect "
         b"(increase (f) 1)))", r"broken\.pddl"),
    ],
)  # fmt: skip
def test_broken_pddl_is_told_in_a_sentence(tmp_path, text, told) -> None:
    _, instances = blocks()
    with pytest.raises(InputError, match=told) as error:
        save_problem(tmp_path, ("broken.pddl", text), [("one.pddl", instances[0])])
    assert "\n" not in str(error.value)
    assert "Traceback" not in str(error.value)
    assert kept(tmp_path) == []


def test_a_broken_instance_is_named(tmp_path) -> None:
    domain, instances = blocks()
    with pytest.raises(InputError, match=r"002-second\.pddl, line"):
        save_problem(
            tmp_path, ("d.pddl", domain), [("first.pddl", instances[0]), ("second.pddl", instances[1][:-9])]
        )


def test_pddl_that_ends_its_reader_does_not_end_us(tmp_path) -> None:
    nested = b"(define (domain d) (:predicates (p)) (:action a :parameters () :precondition "
    nested += b"(and " * 150_000 + b"(p)" + b")" * 150_000 + b" :effect (p)))"
    with pytest.raises(InputError, match="deep"):
        save_problem(tmp_path, ("deep.pddl", nested), [("one.pddl", b"(define (problem e))")])


def test_who_takes_too_long_is_stopped(tmp_path, monkeypatch) -> None:
    domain, instances = blocks()
    monkeypatch.setattr(uploads, "_LIMITED", "import time; time.sleep(60)  # {module}")
    monkeypatch.setattr(uploads, "_SECONDS", 0.1)
    with pytest.raises(InputError, match="takes too long"):
        save_problem(tmp_path, ("d.pddl", domain), [("one.pddl", instances[0])])


def test_memory_is_limited(tmp_path, monkeypatch) -> None:
    before, _, _ = uploads._LIMITED.partition("from {module}")
    monkeypatch.setattr(uploads, "_LIMITED", before + "bytearray(8 * 2**30); print('{{}}')  # {module}")
    with pytest.raises(InputError, match="within the limits of time and memory"):
        save_problem(tmp_path, ("d.pddl", b"d"), [("one.pddl", b"e")])


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("net.pt", b"", "is empty"),
        ("net.exe", b"x", "end with .safetensors"),
        ("net", b"x", "end with .safetensors"),
        ("net.pt", b"x" * (50 * 2**20 + 1), r"has 50\.0 MB; a network's file may have 50 MB"),
    ],
)
def test_files_that_cannot_be_meant_are_refused_before_they_are_read(tmp_path, name, content, told) -> None:
    with pytest.raises(InputError, match=told):
        save_network(tmp_path, (name, content))
    assert not (tmp_path / ".uploads").exists()


def test_too_large_or_too_many_pddl_files_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="may have 1 MB"):
        save_problem(tmp_path, ("d.pddl", b"x" * (2**20 + 1)), [("one.pddl", b"x")])
    with pytest.raises(InputError, match="too many"):
        save_problem(tmp_path, ("d.pddl", b"x"), [("one.pddl", b"x")] * 501)
    with pytest.raises(InputError, match="no instances"):
        save_problem(tmp_path, ("d.pddl", b"x"), [])


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "",
        "/",
        "../..",
        "a/../../b.pt",
        "c:\\x\\..\\y.pt",
        "\0.pt",
        "~root.pt",
        "a" * 999,
        "é/ü.pt",
    ],
)
def test_no_name_leads_anywhere(name) -> None:
    safe = safe_name(name)
    assert safe
    assert len(safe) <= 30
    assert set(safe) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_what_is_damaged_later_is_not_listed_and_can_be_given_again(tmp_path) -> None:
    domain, instances = blocks()
    found = save_problem(tmp_path, ("d.pddl", domain), [("one.pddl", instances[0])])
    (found.folder / "about.json").write_text("{")
    assert uploads.uploads(tmp_path, "problem") == []
    again = save_problem(tmp_path, ("d.pddl", domain), [("one.pddl", instances[0])])
    assert again == found
    assert uploads.uploads(tmp_path, "problem") == [found]


def test_a_config_is_kept_under_its_content(tmp_path) -> None:
    first = save_config(tmp_path, "problem: gripper\n")
    assert first.read_text() == "problem: gripper\n"
    assert save_config(tmp_path, "problem: gripper\n") == first
    assert save_config(tmp_path, "problem: miconic\n") != first
