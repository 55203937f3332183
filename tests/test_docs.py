"""The examples in the documents run, and the figures they state are those that come out."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from distill.distillation import Distillation
from distill.networks import Checkpoint, replay_states
from distill.planning import Instance, expand, problem_class, transitions
from distill.planning.generators import GENERATORS
from distill.symmetry import StateModel

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def printed(code: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {"__name__": "example"})  # noqa: S102
    return output.getvalue()


def test_adding_a_problem_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "docs/problem-classes.md"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(GENERATORS, "ring", None)  # removed again after the test
    Path("ring.pddl").write_text(blocks(page, "pddl")[0])
    Path("ring.yaml").write_text(blocks(page, "yaml")[1])
    generator, use = blocks(page, "python")
    printed(generator)
    assert printed(use) == blocks(page, "text")[0]


def test_the_example_of_the_tour() -> None:
    [code] = blocks("docs/tour.md", "python")
    assert printed(code).startswith("33356 ")


def test_the_state_model_of_the_page_on_symmetry() -> None:
    [text] = blocks("docs/symmetry.md", "pddl")
    data = expand(Instance(problem_class("gripper").domain, text, "gripper-3"), 10_000)
    model = StateModel.of(data, transitions(data))
    assert (len(data), len(model), model.to_json()["goals"]) == (88, 18, [16, 17])


def test_the_examples_with_a_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archive, run = blocks("docs/networks.md", "python")
    monkeypatch.chdir(ROOT)
    assert float(printed(run)) < 0.5
    checkpoint = Checkpoint.load(ROOT / "artifacts/checkpoints/gripper.safetensors")
    data = expand(problem_class("gripper").make("train")[0], 10_000)
    replay_states(checkpoint, {"train": data}).save(tmp_path / "gripper.npz")
    monkeypatch.chdir(tmp_path)
    assert f"of instance {data.instances[0]['name']} with V = " in printed(archive)


def test_the_example_of_a_config(tmp_path: Path) -> None:
    from distill.jobs import TrainingConfig

    (tmp_path / "example.yaml").write_text(blocks("docs/networks.md", "yaml")[0])
    assert TrainingConfig.read(tmp_path / "example.yaml").network.size == 16


def test_the_table_of_networks_is_that_of_their_files() -> None:
    text = (ROOT / "docs/networks.md").read_text().partition("\n### Included networks\n")[2]
    rows = re.findall(r"^\| (\S+) \| \d+, \d+ \|.*$", text, re.MULTILINE)
    assert len(rows) == 5
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells or cells[0] not in rows:
            continue
        metrics = Checkpoint.load(ROOT / f"artifacts/checkpoints/{cells[0]}.safetensors").record["metrics"]
        splits = [metrics[name] for name in ("train", "validation", "test")]
        assert cells[3] == " / ".join(f"{split['mae']:.4f}" for split in splits)
        assert cells[4] == f"{splits[2]['known_within_half']:.2%}"
        assert cells[5] == f"{splits[2]['solved']}/{splits[2]['instances']}"
        assert all(split["plan_length"] == split["optimal_length"] for split in splits)


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    links = [(page, target) for page in pages for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())]
    assert {page.parent for page, _ in links} == {ROOT, ROOT / "docs"}
    for page, target in links:
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_file_format_is_documented_as_it_is() -> None:
    from distill.planning import expand, problem_class

    documented = re.findall(r"^\| `(\w+)` \| \(", (ROOT / "docs/data.md").read_text(), re.MULTILINE)
    data = expand(problem_class("blocks-clear").make("train")[0], 100)
    assert data is not None
    assert data.transitions is not None
    assert documented == [*data.arrays(), *data.transitions.arrays()]


def test_the_example_with_transitions() -> None:
    [code] = blocks("docs/data.md", "python")
    assert printed(code) == blocks("docs/data.md", "text")[0]


def test_the_example_with_formulas() -> None:
    [code] = blocks("docs/formulas.md", "python")
    assert printed(code) == blocks("docs/formulas.md", "text")[0]


def test_the_example_of_a_distillation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [code] = blocks("docs/distillation.md", "python")
    assert len(code.strip().splitlines()) <= 20
    last = printed(code).splitlines()[-1]
    assert re.fullmatch(r"\d features, largest error on 19491 test states: 0.0", last)


def test_the_example_of_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [code] = blocks("docs/jobs.md", "python")
    assert printed(code) == "0.0 68706 states\nTrue\n"


def test_the_example_of_a_sweep(tmp_path: Path) -> None:
    from distill.jobs import Sweep

    text = blocks("docs/jobs.md", "yaml")[0].replace("../runs", str(ROOT / "configs/runs"))
    (tmp_path / "example.yaml").write_text(text)
    sweep = Sweep.read(tmp_path / "example.yaml")
    assert len(sweep.jobs) == 2 * 2 * 2 * 4
    assert not any(job.error for job in sweep.jobs)


def test_the_sweeps_that_come_along_are_as_large_as_documented() -> None:
    from distill.jobs import Sweep

    rows = re.findall(
        r"^\| `(configs/sweeps/\S+)` \| (\d+) \|", (ROOT / "docs/jobs.md").read_text(), re.MULTILINE
    )
    assert {file for file, _ in rows} == {
        f"configs/sweeps/{one.name}" for one in (ROOT / "configs/sweeps").iterdir()
    }
    for file, jobs in rows:
        assert len(Sweep.read(ROOT / file).jobs) == int(jobs)


def test_the_example_of_a_verification() -> None:
    [code] = blocks("docs/verification.md", "python")
    assert printed(code) == blocks("docs/verification.md", "text")[0]


def test_the_table_of_settings_is_that_of_the_code() -> None:
    page = (ROOT / "docs/distillation.md").read_text()
    for name, item in Distillation.model_fields.items():
        [row] = re.findall(rf"^\| `{name}` \|(.*)\|$", page, re.MULTILINE)
        default, values, meaning = (cell.strip() for cell in row.split(" | "))
        assert meaning == item.description
        assert all(choice in values for choice in Distillation.choices(name))
        shown = ", ".join(item.default) if isinstance(item.default, tuple) else str(item.default)
        assert default == (shown.lower() if isinstance(item.default, bool) else shown)
