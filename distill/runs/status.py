"""The status of an unfinished job: a small file beside the runs."""

import json
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from distill.common import InputError, atomic_write, read_dataclass

RUNNING, FAILED = "running", "failed"
JOBS = ".jobs"


@dataclass(frozen=True)
class Status:
    """The progress of a job, or the cause of its failure; a finished job has none.

    Attributes
    ----------
    state : `running` or `failed`.
    stage : the current stage, followed by a colon and its part.
    done, total : the number of finished steps and of all steps of the stage.
    begun, seen : when the job began, and when it last reported (seconds since 1970).
    host, process : where the job runs.
    error : the cause of the failure, in a sentence.
    details : the traceback of an unexpected error.
    """

    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    begun: float = 0.0
    seen: float = 0.0
    host: str = ""
    process: int = 0
    error: str = ""
    details: str = ""

    def write(self, file: Path) -> None:
        """Write it to a file."""
        with atomic_write(file) as stream:
            stream.write(json.dumps(asdict(self)).encode())

    @staticmethod
    def read(file: Path) -> "Status | None":
        """Read a file; None if it is missing or unreadable."""
        try:
            return read_dataclass(Status, file)
        except InputError:
            return None


def status_file(store: Path, name: str) -> Path:
    """The status file of a job."""
    return store / JOBS / f"{name}.json"


def report_failure(file: Path, error: Exception) -> None:
    """Write the cause of a failure; a store that is not writable is ignored."""
    expected = isinstance(error, InputError)
    known = Status.read(file)
    sentence = str(error) if expected else f"An unforeseen error: {type(error).__name__}: {error}"
    details = "" if expected else "".join(traceback.format_exception(error))
    failed = replace(known or Status(FAILED), state=FAILED, error=sentence, details=details, seen=time.time())
    with suppress(InputError):
        failed.write(file)
