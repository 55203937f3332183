"""Fast Downward, from the package `up-fast-downward` (extra `planners`)."""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from distill.common import InputError
from distill.planning.plan_result import GAVE_UP, NO_PLAN, SOLVED, PlanResult

_SOLVED, _UNSOLVABLE = {0}, {10, 11}
# An incomplete search that ends without a plan (12) proves nothing; from 20 on it ran out of time or memory.
_GAVE_UP = {12, *range(20, 25)}


def find_driver() -> Path | None:
    """The path of Fast Downward's driver script; None if the package is not installed."""
    # Importing the package would import the unified planning library, so only its folder is located.
    package = importlib.util.find_spec("up_fast_downward")
    if package is None or not package.submodule_search_locations:
        return None
    driver = Path(package.submodule_search_locations[0]) / "downward" / "fast-downward.py"
    return driver if driver.exists() else None


def run(domain: str, problem: str, arguments: tuple[str, ...], seconds: float) -> PlanResult:
    """Solve a PDDL task given as text.

    Parameters
    ----------
    arguments : those after the two files on the command line, for example `("--search", "astar(lmcut())")`.
    seconds : the time limit.
    """
    driver = find_driver()
    if driver is None:
        raise InputError(
            "Fast Downward is not installed; run: pip install 'planning-distill[planners]', "
            "or choose the planner astar."
        )
    with tempfile.TemporaryDirectory(prefix="distill-fd-") as folder:
        # It writes its translation and plan into the working directory.
        Path(folder, "domain.pddl").write_text(domain, encoding="utf-8")
        Path(folder, "problem.pddl").write_text(problem, encoding="utf-8")
        command = [sys.executable, str(driver), "--overall-time-limit", f"{max(1, round(seconds))}s"]
        command += ["--plan-file", "plan", "domain.pddl", "problem.pddl", *arguments]
        if arguments[0] == "--alias":
            command = [*command[:2], *arguments, *command[2:-2]]
        exit_code, message = _run(command, folder)
        if exit_code in _SOLVED:
            lines = Path(folder, "plan").read_text(encoding="utf-8").splitlines()
            return PlanResult(SOLVED, tuple(line.strip() for line in lines if not line.startswith(";")))
    if exit_code in _UNSOLVABLE:
        return PlanResult(NO_PLAN)
    if exit_code in _GAVE_UP:
        return PlanResult(GAVE_UP)
    raise InputError(
        f"Fast Downward cannot solve this task (exit code {exit_code}: {message}); choose another planner."
    )


def _run(command: list[str], folder: str) -> tuple[int, str]:
    """Exit code and last message; an interruption ends the search binary too, not only its driver."""
    with subprocess.Popen(  # noqa: S603
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            lines = process.communicate()[0].strip().splitlines()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, lines[-1] if lines else "no message"
