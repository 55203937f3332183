"""Labels of a PDDL task as the package computes them, in a worker process, since the parser may crash."""

import atexit
import multiprocessing
from collections import Counter
from multiprocessing.connection import Connection
from typing import Any

from distill.common import InputError
from distill.planning import Domain, Instance, expand

SECONDS = 30
DOMAIN, PROBLEM = "d.pddl", "p.pddl"


class Worker:
    """A process that labels one task after another; it is started again after a crash."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None

    def ask(self, domain: str, problem: str, most: int) -> tuple[str, Any]:
        """What comes of a task: its labels, a refusal, an error, a crash, or that it has too many states."""
        if self._process is None:
            self._here, there = self._context.Pipe()
            self._process = self._context.Process(target=_serve, args=(there,), daemon=True)
            self._process.start()
            there.close()
            atexit.register(self.stop)
        try:
            self._here.send((domain, problem, most))
            # The first answer comes after the imports.
            if self._here.poll(SECONDS):
                return self._here.recv()
            reason = f"no answer after {SECONDS} seconds"
        except (EOFError, OSError):
            self._process.join()
            reason = f"the process ended with {self._process.exitcode}"
        self.stop()
        return "crash", reason

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(there: Connection) -> None:
    while True:
        there.send(label_task(*there.recv()))


def label_task(domain: str, problem: str, most: int) -> tuple[str, Any]:
    """As `Worker.ask`, in this process."""
    try:
        data = expand(Instance(Domain(domain, DOMAIN), problem, "p", source=PROBLEM), most)
    except InputError as error:
        return "refused", str(error)
    except Exception as error:
        return "error", repr(error)
    return ("labels", Counter(data.v_star.tolist())) if data is not None else ("none", None)
