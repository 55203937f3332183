"""What nobody may do: reach the workbench from elsewhere, run code, inject markup, read other files."""

import os
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from app.session.run_index import DEMO
from app.session.run_session import RunSession
from distill.common import InputError
from distill.runs import Run
from tests.support.browser import Browser, at, served
from tests.support.forged_run import PICTURE, forge

PAGES = ("runs", "value", "formulas", "state", "accuracy")
DEMO_RUN = next(DEMO.iterdir()).name
CODE = "__import__('os').system('touch {}')"
FOREIGN = (
    'img[src="x"], img[onerror], img[src*="forged"], a[href^="javascript"], [data-testid="stMain"] script'
)


def listening(port: int) -> set[str]:
    """The addresses on which something listens at a port, as the kernel writes them."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if Path(table).exists():
            for line in Path(table).read_text().splitlines()[1:]:
                local, state = line.split()[1], line.split()[3]
                if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                    found.add(local.rpartition(":")[0])
    return found


def reach(page, kinds: str = FOREIGN) -> list[str]:
    """What markup became of forged names."""
    return page.eval_on_selector_all(kinds, "found => found.map(one => one.outerHTML)")


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="there is no /proc/net/tcp here")  # noqa: PTH110
def test_only_this_machine_reaches_the_workbench(workbench) -> None:
    found = listening(urlsplit(workbench).port)
    assert found
    assert found <= {"0100007F", "00000000000000000000000001000000"}  # 127.0.0.1 and ::1


def test_the_first_thing_a_server_shows_may_be_a_link(chromium, tmp_path) -> None:
    with served(tmp_path / "nothing", tmp_path / "log.txt") as address:
        context = chromium.new_context()
        browser = Browser(context.new_page(), address)
        browser.open(f"accuracy?run={DEMO_RUN}", "Boxes as CSV")
        context.close()


def test_a_formula_that_is_code_is_refused(browser, tmp_path) -> None:
    code = CODE.format(tmp_path / "done")
    browser.open(f"formulas?{urlencode({'run': DEMO_RUN, 'formula': code})}", "The formula")
    typed = browser.page.get_by_label("Formula", exact=True)
    for text in (code, "().__class__.__bases__[0]", "{0.__class__}", "#" * 5000):
        typed.fill(text)
        typed.press("Enter")
        browser.page.get_by_role("alert").first.wait_for()
        browser.settled()
        assert "Traceback" not in browser.text()
    browser.open(f"state?{urlencode({'run': DEMO_RUN, 'formula': code})}")
    assert not (tmp_path / "done").exists()


@pytest.fixture(scope="module")
def forged(runs_folder, tmp_path_factory):
    """The address of a workbench whose run is forged, and the run."""
    place = tmp_path_factory.mktemp("forged")
    run = forge(next(iter(sorted(runs_folder.glob("blocks-*")))), place / "runs")
    with served(place / "runs", place / "log.txt") as address:
        yield address, run


def test_a_forged_run_can_be_read(forged) -> None:
    _, run = forged
    assert run.damaged() == []
    assert PICTURE in str(run.states("train").atom_names(0))
    assert PICTURE in str(run.value_function.value)


def test_names_are_shown_as_they_are_and_never_as_markup(chromium, forged) -> None:
    address, run = forged
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    browser = Browser(context.new_page(), address)
    dialogs: list[str] = []
    browser.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    term = max((feature.number for _, feature in run.value_function.terms()), key=lambda n: PICTURE in str(n))
    seen = ""
    for path, chosen in [
        ("runs", {}),
        ("value", {}),
        ("value", {"notation": "latex"}),
        ("formulas", {"formula": str(term)}),
        ("formulas", {"formula": str(term), "notation": "english", "card": "Try it"}),
        ("state", {"split": "train", "state": "700"}),
        ("accuracy", {"split": PICTURE, "of": PICTURE, "v": PICTURE}),
        ("accuracy", {"see": "Worst states", "v": PICTURE}),
        ("accuracy", {"see": "Greedy choices", "looked": PICTURE}),
    ]:
        browser.open(f"{path}?{urlencode({'run': run.name, **chosen})}")
        browser.page.wait_for_timeout(500)
        assert "Traceback" not in browser.text()
        assert reach(browser.page) == [], path
        seen += browser.text()
    context.close()
    assert dialogs == []
    assert browser.outside == []
    assert seen.count(PICTURE) >= 5  # forging has reached what is shown


def test_messages_about_an_address_are_no_markup(browser) -> None:
    markup = "![c](http://forged.invalid/c.png)[d](javascript:alert(1))"
    for page in PAGES:
        keys = ("run", "split", "state", "formula", "notation", "of", "v", "instance")
        browser.open(f"{page}?{urlencode(dict.fromkeys(keys, markup))}")
        browser.page.get_by_text("forged.invalid").first.wait_for()
        assert reach(browser.page) == [], page


@pytest.mark.parametrize("name", ["../secret", "..", ".", "/etc", "", "gripper/../gripper", "%2e%2e", "a\0b"])
def test_only_runs_that_are_listed_are_opened(runs_folder, tmp_path, monkeypatch, name) -> None:
    (tmp_path / "runs").mkdir()
    Path(tmp_path / "secret").symlink_to(next(iter(sorted(runs_folder.glob("blocks-*")))))
    monkeypatch.setenv("DISTILL_STORE", str(tmp_path / "runs"))
    with pytest.raises(InputError, match="There is no run"):
        RunSession.of(name)


def test_an_address_leads_to_no_other_folder(browser, runs_folder) -> None:
    inside = next(iter(sorted(runs_folder.glob("blocks-*"))))
    for key, name in (("run", str(inside)), ("split", "../../../../../../etc/passwd")):
        chosen = urlencode({"run": inside.name, key: name})
        browser.open(f"accuracy?{chosen}", "does not exist")
        assert chosen not in browser.page.url
        assert "root:" not in browser.text()


@pytest.mark.parametrize(
    "path",
    [
        "/../../../etc/passwd",
        "/static/..%2f..%2f..%2fetc/passwd",
        "/app/static/%2e%2e/main.py",
        "//etc/passwd",
    ],
)
def test_the_server_gives_no_files_away(workbench, path) -> None:
    try:
        with urllib.request.urlopen(at(workbench, path), timeout=5) as answer:  # noqa: S310
            text = answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
    assert "root:" not in text
    assert "import streamlit" not in text


def test_two_people_do_not_see_each_other(chromium, workbench, runs_folder) -> None:
    first, second = (Run.load(folder) for folder in sorted(runs_folder.glob("blocks-*"))[:2])
    people = []
    for run, split in ((first, "train"), (second, "test")):
        context = chromium.new_context(viewport={"width": 1400, "height": 1000})
        browser = Browser(context.new_page(), workbench)
        browser.open(f"accuracy?run={run.name}&split={split}&notation=emlc", f"{split}: ")
        people.append((context, browser, run, split))
    third = chromium.new_context()
    newcomer = Browser(third.new_page(), workbench)
    newcomer.open("accuracy", "Boxes as CSV")
    newcomer.settled("train: ")
    newcomer.settled("test: ")
    for context, browser, run, split in people:
        browser.page.get_by_role("link", name="Value function").click()
        browser.page.wait_for_url("**/value*")
        browser.page.get_by_role("link", name="Accuracy").click()
        browser.page.wait_for_url("**/accuracy*")
        browser.settled(f"{split}: ")
        other = "test" if split == "train" else "train"
        assert f"{other}: " not in browser.text()
        assert f"run={run.name}" in browser.page.url
        context.close()
    third.close()
