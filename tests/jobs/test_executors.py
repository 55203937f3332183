"""Executors: a process or a machine that dies loses no task, and one that cannot be had is reported."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from distill.common import InputError
from distill.jobs import JobBatch, executor
from distill.jobs.executors import IsolatedProcesses
from distill.runs import Store
from tests.support.small_jobs import Here, contents, small_sweep

pytestmark = pytest.mark.slow


def worker_of(_: int) -> int:
    return os.getpid()


def die_once(file: str) -> str:
    path = Path(file)
    if not path.exists():
        path.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def threads_in_a_job(folder: str) -> list[int]:
    import torch
    from threadpoolctl import threadpool_info

    from distill.networks import one_thread

    with one_thread():
        return [torch.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info())]


def test_a_process_that_dies_takes_only_its_own_task(tmp_path) -> None:
    with IsolatedProcesses(2) as processes:
        again = processes.submit(die_once, str(tmp_path / "died"))
        lost = processes.submit(die, 0)
        fine = [processes.submit(worker_of, number) for number in range(4)]
        assert again.result() == "done"
        assert all(future.result() > 0 for future in fine)
        with pytest.raises(InputError, match="died 3 times"):
            lost.result()
        assert processes.submit(worker_of, 1).result() > 0
        assert set(processes.submit(threads_in_a_job, "").result()) == {1}


@pytest.fixture
def cluster(tmp_path):
    """A Dask scheduler and two workers, each a process of its own on this machine."""
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    python = [sys.executable, "-m"]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    scheduler = subprocess.Popen(
        [
            *python,
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--no-dashboard",
        ],
        env=environment,
        **quiet,
    )
    workers = [
        subprocess.Popen(
            [
                *python,
                "distributed.cli.dask_worker",
                address,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
            ],
            env=environment,
            **quiet,
        )
        for _ in range(2)
    ]
    yield f"dask://127.0.0.1:{port}", workers
    for process in [*workers, scheduler]:
        process.kill()
        process.wait()


def test_a_cluster_worker_that_dies_loses_no_job(tmp_path, cluster) -> None:
    address, workers = cluster
    batch = JobBatch(small_sweep(tmp_path, seeds=4), tmp_path / "runs", cache=tmp_path / "cache")
    killed = []

    def kill_one(works) -> None:
        running = [work for work in works if work.state == "running"]
        if running and not killed:
            # the worker that is at this job, and no other
            [status] = [s for n, s in Store(tmp_path / "runs").jobs().items() if n == running[0].name] or [
                None
            ]
            if status is not None:
                killed.append(status.process)
                os.kill(status.process, signal.SIGKILL)

    with executor(address, 1) as cluster_workers:
        batch.run(cluster_workers, kill_one)
    assert killed
    assert killed[0] in [worker.pid for worker in workers]
    assert [(work.state, work.error) for work in batch.works] == [("done", "")] * 4
    alone = JobBatch(small_sweep(tmp_path, seeds=4), tmp_path / "alone", cache=tmp_path / "own")
    alone.run(Here())
    assert contents(tmp_path / "runs") == contents(tmp_path / "alone")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("dask://127.0.0.1:1", "does not answer; start one with `dask scheduler`"),
        ("dask://127.0.0.1", "must look like dask://HOST:PORT"),
        ("dask://127.0.0.1:x", "must look like dask://HOST:PORT"),
        ("slurm", "There is no executor 'slurm'; choose local or dask://HOST:PORT"),
    ],
)
def test_an_executor_that_cannot_be_had_is_told(address, told, monkeypatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("distill.jobs.executors._PATIENCE", 1)
    with pytest.raises(InputError, match=told), executor(address, 1):
        pass
