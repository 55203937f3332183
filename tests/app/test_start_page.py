"""The page Start work: the form, files of people, and jobs that outlive the page."""

import re
from pathlib import Path

import pytest
import yaml

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from app.components.escape import escape
from app.session.uploaded_files import save_network, save_problem
from distill.distillation import Distillation
from distill.jobs import DetachedJob, RunConfig, detached_jobs
from distill.planning import problem_class
from distill.runs import Run
from tests.support.browser import Browser, served
from tests.support.commands import PATIENCE, until
from tests.support.forged_run import wicked_file
from tests.support.small_jobs import SETTINGS, small_content

QUICK = {f"distillation.{name}": str(value) for name, value in {**SETTINGS, "time_limit": 3.0}.items()}
QUICK |= {"evaluation.max_steps": "20"}


def shown(store: Path, monkeypatch, **address: str) -> AppTest:
    """The page, with a folder of runs and an address."""
    monkeypatch.setenv("DISTILL_STORE", str(store))
    at = AppTest.from_string("from app.pages import start\nstart.show()", default_timeout=PATIENCE)
    for key, value in address.items():
        at.query_params[key] = value
    return at.run()


def config_of(at: AppTest) -> dict:
    return yaml.safe_load(at.code[0].value)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A small network on Blocks, a domain and four instances, as files."""
    small_content(folder := tmp_path_factory.mktemp("source"))
    return folder


@pytest.fixture(scope="module")
def given(source, tmp_path_factory) -> tuple[Path, str, str]:
    """A folder of runs with what people gave: its network and its problem, by their keys."""
    store = tmp_path_factory.mktemp("given") / "runs"
    files = sorted((source / "instances").iterdir())
    network = save_network(store, ("net.safetensors", (source / "net.safetensors").read_bytes()))
    problem = save_problem(
        store,
        ("blocks.pddl", (source / "blocks.pddl").read_bytes()),
        [(file.name, file.read_bytes()) for file in files],
    )
    return store, network.key, problem.key


def test_the_form_follows_the_declared_settings(tmp_path, monkeypatch) -> None:
    at = shown(tmp_path, monkeypatch, network="none")
    assert not at.exception
    asked = {
        widget.key for kind in (at.selectbox, at.number_input, at.checkbox, at.multiselect) for widget in kind
    }
    assert {f"work/distillation.{name}" for name in Distillation.names()} <= asked
    seed = at.number_input(key="work/distillation.seed")
    assert (seed.value, seed.min) == (0, 0)
    assert seed.help == escape(str(Distillation.model_fields["seed"].description))
    control = at.selectbox(key="work/distillation.control")
    assert control.options == ["none", "untrained", "permuted"]


def test_what_differs_from_the_defaults_is_in_the_config_and_the_address(tmp_path, monkeypatch) -> None:
    at = shown(tmp_path, monkeypatch, network="none", on="miconic")
    assert config_of(at) == {"problem": "miconic", "distillation": {"pool": "enumerate"}}
    at.number_input(key="work/distillation.seed").set_value(3).run()
    at.multiselect(key="work/distillation.features").set_value(["numerical"]).run()
    at.number_input(key="work/labelling.time_limit").set_value(1.5).run()
    expected = {
        "problem": "miconic",
        "distillation": {"pool": "enumerate", "seed": 3, "features": ["numerical"]},
        "labelling": {"time_limit": 1.5},
    }
    assert config_of(at) == expected
    address = {key: value if isinstance(value, str) else value[0] for key, value in at.query_params.items()}
    again = shown(tmp_path, monkeypatch, **address)
    assert config_of(again) == expected
    at.number_input(key="work/distillation.seed").set_value(0).run()
    assert "distillation.seed" not in at.query_params


def test_a_network_that_was_given_is_in_the_config(given, monkeypatch) -> None:
    store, network, problem = given
    at = shown(store, monkeypatch, network=network, on=problem, **QUICK)
    config = RunConfig.from_mapping(config_of(at), Path(), lambda *keys: "a test")
    assert config.checkpoint is not None
    assert config.checkpoint.parent.name == network
    assert config.distillation.inner_width == SETTINGS["inner_width"]
    assert {split.name for split in config.splits()} >= {"train"}


def test_what_an_address_cannot_mean_is_told(tmp_path, monkeypatch) -> None:
    at = shown(
        tmp_path,
        monkeypatch,
        network="../../etc",
        on="nothing",
        **{
            "distillation.seed": "-1",
            "distillation.pool": "[x](y)",
            "distillation.states": "!!python/object:os.x",
        },
    )
    assert not at.exception
    told = " ".join(one.value for one in at.info)
    for word in ("etc", "nothing", "seed cannot be", "pool cannot be", "states cannot be"):
        assert word in told.replace("\\", "")
    assert "distillation" not in config_of(at) or config_of(at)["distillation"] == {"pool": "enumerate"}


@pytest.fixture(scope="module")
def busy(source, tmp_path_factory):
    """A workbench of its own, with its folder of runs; what is started there ends with the tests."""
    place = tmp_path_factory.mktemp("busy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISTILL_CACHE", str(place / "cache"))
        with served(place / "runs", place / "log.txt") as address:
            yield address, place / "runs"
    for one in detached_jobs(place / "runs"):
        one.cancel()
        until(lambda one=one: one.state().is_over)


@pytest.fixture
def open_tab(chromium, busy):
    """Opens new tabs of that workbench, each as a new person."""
    contexts, found = [], []

    def opened() -> Browser:
        context = chromium.new_context(viewport={"width": 1400, "height": 1000}, accept_downloads=True)
        contexts.append(context)
        found.append(Browser(context.new_page(), busy[0]))
        return found[-1]

    yield opened
    for context in contexts:
        context.close()
    for browser in found:
        assert browser.errors == []
        assert browser.outside == []


def upload(browser: Browser, place: int, files: list) -> None:
    browser.settled()
    uploader = browser.page.locator('[data-testid="stFileUploader"]').nth(place)
    uploader.locator("input").set_input_files(files)
    uploader.locator('[data-testid="stFileChip"]').first.wait_for()
    browser.settled()


def a_file(name: str, content: bytes) -> dict:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def one_job(store: Path) -> DetachedJob:
    return detached_jobs(store)[0]


def test_from_files_to_a_run_with_the_page_closed_meanwhile(open_tab, busy, source) -> None:
    _, store = busy
    browser = open_tab()
    browser.open("work?" + "&".join(f"{key}={value}" for key, value in QUICK.items()), "Start work")
    browser.page.get_by_text("Files of your own").click()
    upload(browser, 0, [source / "net.safetensors"])
    browser.page.get_by_role("button", name="Use this network").click()
    browser.settled("a network with")
    upload(browser, 1, [source / "blocks.pddl"])
    upload(browser, 2, sorted((source / "instances").iterdir()))
    browser.page.get_by_role("button", name="Use this problem").click()
    browser.settled("the domain blocks with 4 instances")
    name, text = browser.download(lambda: browser.page.get_by_role("button", name="Config as YAML").click())
    assert name == "run.yaml"
    browser.page.get_by_role("button", name="Start", exact=True).click()
    browser.settled("net.safetensors on blocks.pddl")
    browser.page.context.close()
    until(lambda: one_job(store).state().is_over)

    other = open_tab()
    other.open("work", "done,")
    other.page.get_by_role("link", name="Open the run").click()
    other.settled("The value function V, a weighted sum")
    run = Run.load(store / re.search(r"run=([^&]+)", other.page.url)[1])
    config = yaml.safe_load(text)
    assert run.config["distillation"]["inner_width"] == SETTINGS["inner_width"]
    assert (run.folder / run.config["checkpoint"]).resolve() == Path(config["checkpoint"])
    assert run.damaged() == []


def test_a_job_can_be_cancelled(open_tab, busy) -> None:
    _, store = busy
    browser = open_tab()
    # Labelling all of Logistics takes far longer than this test.
    browser.open("work?network=none&on=logistics", "Start work")
    browser.page.get_by_role("button", name="Start", exact=True).click()
    until(lambda: "logistics" in one_job(store).name and one_job(store).state().state == "running")
    browser.settled("logistics, pool enumerate: running")
    browser.page.get_by_role("button", name="Cancel").click()
    browser.settled("logistics, pool enumerate: cancelled")
    assert one_job(store).state().state == "cancelled"
    assert browser.page.get_by_role("button", name="Try again").is_visible()
    assert not list((store / ".jobs").glob("logistics*.json"))
    browser.open("runs")
    assert "logistics" not in browser.text()


def test_a_failure_is_explained_and_can_be_tried_again(open_tab, busy, source) -> None:
    _, store = busy
    network = save_network(store, ("other.safetensors", (source / "net.safetensors").read_bytes()))
    gripper = problem_class("gripper")
    instances = [(f"{one.name}.pddl", one.text.encode()) for one in gripper.make("train")[:2]]
    problem = save_problem(store, ("gripper.pddl", gripper.domain.text.encode()), instances)
    browser = open_tab()
    browser.open(f"work?network={network.key}&on={problem.key}", "Start work")
    browser.page.get_by_role("button", name="Start", exact=True).click()
    browser.settled("other.safetensors on gripper.pddl")
    until(lambda: one_job(store).state().is_over)
    state = one_job(store).state()
    assert state.state == "failed"
    browser.settled("other.safetensors on gripper.pddl: failed")
    assert state.error in browser.text()
    assert "Traceback" not in state.error
    before = len(detached_jobs(store))
    browser.page.get_by_role("button", name="Try again").first.click()
    until(lambda: len(detached_jobs(store)) == before + 1)


def test_files_that_are_wicked_broken_or_too_large_get_a_sentence(open_tab, busy, source, tmp_path) -> None:
    browser = open_tab()
    browser.open("work", "Start work")
    browser.page.get_by_text("Files of your own").click()
    upload(browser, 0, [a_file("wicked.pt", wicked_file(tmp_path / "made"))])
    browser.page.get_by_role("button", name="Use this network").click()
    browser.settled("which no network needs; it was refused, nothing was run.")
    assert not (tmp_path / "made").exists()
    upload(browser, 1, [a_file("../../broken.pddl", b"(define (domain d) (:predicates (p ?x)")])
    upload(browser, 2, [sorted((source / "instances").iterdir())[0]])
    browser.page.get_by_role("button", name="Use this problem").click()
    browser.settled("this bracket is not closed")
    assert "Traceback" not in browser.text()
    browser.open("work", "Start work")
    browser.page.get_by_text("Files of your own").click()
    upload(browser, 1, [a_file("large.pddl", b"x" * (2 * 2**20))])
    browser.settled("File must be 1.0MB or smaller.")


def test_the_server_itself_limits_what_is_sent() -> None:
    from app.session import server
    from app.session.uploaded_files import MEGABYTES

    assert max(MEGABYTES.values()) == server._MEGABYTES
