"""Commands that run on their own: they wait, end, fail, are cancelled, and are not mistaken for others."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distill.common import COMMAND, WATCHER, InputError, Process, watcher as watch
from distill.jobs import DetachedJob, detached as module, detached_jobs, launch
from distill.runs import Status, status_file
from tests.support.commands import children, until

pytestmark = pytest.mark.slow

SLEEP = "import time; time.sleep(100_000)"  # until it is killed


@pytest.fixture
def python(monkeypatch):
    """Commands are pieces of Python here, so that tests need not wait for ours."""
    monkeypatch.setattr(module, "_DISTILL", [sys.executable, "-c"])


@pytest.fixture
def store(tmp_path):
    """A folder of runs; whatever was started for it ends with the test."""
    yield tmp_path / "runs"
    for one in detached_jobs(tmp_path / "runs"):
        one.cancel()
        until(lambda one=one: one.state().is_over)


def ended(one: DetachedJob) -> str:
    until(lambda: one.state().is_over)
    return one.state().state


def test_a_command_runs_and_its_answer_is_kept(store, python) -> None:
    one = launch("import json; print(json.dumps({'run': 'a'}))", store=store, name="first")
    assert ended(one) == "done"
    assert one.result() == {"run": "a"}
    found = detached_jobs(store)
    assert [(other.key, other.name) for other in found] == [(one.key, "first")]
    assert found[0].state() == one.state()


def test_what_a_command_says_of_its_failure_is_told(store, python) -> None:
    said = "import sys; print('Error: no such\\nthing; give one.', file=sys.stderr); sys.exit(2)"
    one = launch(said, store=store, name="x")
    assert ended(one) == "failed"
    assert one.state().error == "no such thing; give one."
    crash = launch("raise ValueError('odd')", store=store, name="y")
    assert ended(crash) == "failed"
    assert crash.state().error == "odd"
    assert "Traceback" in crash.log()


def test_our_own_command_is_run(store) -> None:
    one = launch("run", "nowhere.yaml", store=store, name="x")
    assert ended(one) == "failed"
    assert one.state().error.startswith("Cannot read nowhere.yaml")


def test_a_command_goes_on_without_who_started_it(store, python, tmp_path) -> None:
    go = tmp_path / "go"
    code = f"import time, os\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)\nprint(1)"
    starter = os.fork()
    if not starter:
        launch(code, store=store, name="x")
        os._exit(0)
    os.waitpid(starter, 0)
    (one,) = detached_jobs(store)
    until(lambda: one.state().state == "running")
    go.touch()
    assert ended(one) == "done"


def test_cancelling_ends_the_whole_group_and_is_told_as_such(store, python, tmp_path) -> None:
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEP!r}])"
    one = launch(child, store=store, name="x")
    until(lambda: one.state().state == "running" and descendants(one))
    inner = [Process.of(number) for number in descendants(one)]
    one.cancel()
    assert ended(one) == "cancelled"
    until(lambda: not any(process.is_alive for process in inner if process))
    one.cancel()  # once more does nothing
    assert one.state().state == "cancelled"


def descendants(one: DetachedJob) -> list[int]:
    return children(Process.read(one.folder / COMMAND).number)


def test_a_command_that_does_not_listen_is_made_to_end(store, python, monkeypatch) -> None:
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); {SLEEP}"
    one = launch(deaf, store=store, name="x")
    until(lambda: one.state().state == "running" and (one.folder / "output.txt").read_text())
    one.cancel()
    assert ended(one) == "cancelled"


def test_the_status_of_a_cancelled_job_is_taken_away(store, python) -> None:
    one = launch(SLEEP, store=store, name="x")
    until(lambda: one.state().state == "running")
    number = Process.read(one.folder / COMMAND).number
    host = os.uname().nodename
    Status("running", "distil", 2, 3, host=host, process=number).write(status_file(store, "a"))
    Status("running", "distil", 2, 3, host=host, process=number + 1).write(status_file(store, "b"))
    assert (one.state().stage, one.state().done, one.state().total) == ("distil", 2, 3)
    one.cancel()
    assert ended(one) == "cancelled"
    assert not status_file(store, "a").exists()
    assert status_file(store, "b").exists()


def test_a_job_that_is_killed_is_told_as_failed(store, python) -> None:
    one = launch(SLEEP, store=store, name="x")
    until(lambda: one.state().state == "running")
    number = Process.read(one.folder / COMMAND).number
    Status("running", "distil", host=os.uname().nodename, process=number).write(status_file(store, "a"))
    os.kill(number, signal.SIGKILL)
    assert ended(one) == "failed"
    assert "ended from outside" in one.state().error
    assert Status.read(status_file(store, "a")).state == "failed"


def test_few_run_at_a_time_and_the_others_in_turn(store, python) -> None:
    first = [launch(SLEEP, store=store, name=str(number)) for number in range(2)]
    until(lambda: all(one.state().state == "running" for one in first))
    third = launch(SLEEP, store=store, name="third")
    fourth = launch("print(1)", store=store, name="fourth")
    until(lambda: all(Process.read(one.folder / WATCHER).is_alive for one in (third, fourth)))
    assert [one.state().state for one in (third, fourth)] == ["waiting", "waiting"]
    third.cancel()  # one that waits is cancelled, too
    assert ended(third) == "cancelled"
    assert fourth.state().state == "waiting"
    first[0].cancel()
    assert ended(fourth) == "done"
    assert first[1].state().state == "running"


def test_too_many_are_refused(store, python, monkeypatch) -> None:
    monkeypatch.setattr(module, "_MOST", 1)
    launch(SLEEP, store=store, name="x")
    with pytest.raises(InputError, match="wait or run already"):
        launch(SLEEP, store=store, name="y")


def forged(store: Path, watcher: Process, command: Process | None) -> DetachedJob:
    folder = store.resolve() / ".launched" / "1-a"
    told = {"name": "x", "arguments": ["print(1)"], "command": [], "asked": time.time()}
    watch.write_json(folder / "asked.json", told)
    watcher.write(folder / WATCHER)
    if command is not None:
        command.write(folder / COMMAND)
    return DetachedJob(folder, "x", ("print(1)",), time.time())


def test_processes_that_died_are_told(store) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    one = forged(store, Process(gone.pid, "then"), Process(gone.pid, "then"))
    assert one.state().state == "failed"
    assert "ended from outside" in one.state().error


def test_a_number_that_is_given_again_is_no_reason_to_kill(store, monkeypatch) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    other = subprocess.Popen([sys.executable, "-c", SLEEP], process_group=0)
    try:
        now = Process.of(other.pid)
        assert now is not None
        # The watcher is dead, and the number of its command belongs to a process that started later.
        one = forged(store, Process(gone.pid, "then"), Process(other.pid, now.started + "0"))
        sent = []
        with monkeypatch.context() as patch:
            for name in ("kill", "killpg"):
                patch.setattr(os, name, lambda *arguments: sent.append(arguments))
            one.cancel()
        assert sent == []
        assert other.poll() is None
        assert one.state().state == "failed"
    finally:
        other.kill()
        other.wait()


def test_a_command_whose_watcher_died_can_still_be_cancelled(store) -> None:
    command = subprocess.Popen([sys.executable, "-c", SLEEP], process_group=0)
    try:
        process = Process.of(command.pid)
        assert process is not None
        one = forged(store, Process(process.number, "another"), process)
        assert one.state().state == "running"
        one.cancel()
        until(lambda: command.poll() is not None)
        assert command.returncode == -signal.SIGTERM
        assert one.state().state == "cancelled"
    finally:
        command.kill()
        command.wait()


def test_it_can_be_tried_again_and_forgotten(store, python, tmp_path) -> None:
    mark = tmp_path / "mark"
    code = (
        "import sys; from pathlib import Path\n"
        f"mark = Path({str(mark)!r}); there = mark.exists(); mark.touch(); sys.exit(not there)"
    )
    one = launch(code, store=store, name="x")
    assert ended(one) == "failed"
    again = one.restart()
    assert ended(again) == "done"
    one.forget()
    assert [other.key for other in detached_jobs(store)] == [again.key]


def test_one_that_runs_is_not_forgotten(store, python) -> None:
    one = launch(SLEEP, store=store, name="x")
    one.forget()
    assert detached_jobs(store) != []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": 1, "arguments": null, "asked": 1}', "\x00"])
def test_files_that_say_nothing_are_passed_over(store, text) -> None:
    folder = store / ".launched" / "1-a"
    folder.mkdir(parents=True)
    (folder / "asked.json").write_text(text)
    assert detached_jobs(store) == []


def test_arguments_reach_no_shell(store, python, tmp_path) -> None:
    odd = f"$(touch {tmp_path}/made); `touch {tmp_path}/made` && touch {tmp_path}/made"
    one = launch("import sys, json; print(json.dumps({'got': sys.argv[1]}))", odd, store=store, name=odd)
    assert ended(one) == "done"
    assert one.result() == {"got": odd}
    assert not (tmp_path / "made").exists()
    assert json.loads((one.folder / "asked.json").read_text())["name"] == odd


@pytest.mark.parametrize("text", ["", "[]", '{"code": "x"}', '{"code": 1, "when": "now"}', "[" * 100_000])
def test_a_damaged_end_is_that_of_a_failed_job(store, text) -> None:
    folder = store / ".launched" / "1-a"
    folder.mkdir(parents=True)
    (folder / "asked.json").write_text('{"name": "a", "arguments": ["run"], "asked": 1.5}')
    (folder / "ended.json").write_text(text)
    [job] = detached_jobs(store)
    assert job.state().state == "failed"
    assert "ended.json" in job.state().error
