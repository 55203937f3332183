"""`distill app`: the workbench in the browser."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from distill.errors import InputError

_MEGABYTES = 50  # of a file that the browser may send; pages allow less, each for its kind of file


def app(
    store: Annotated[Path, typer.Option("--store", help="The folder that keeps runs.")] = Path(
        "artifacts/runs"
    ),
    port: Annotated[int, typer.Option(help="Where the workbench listens.")] = 8501,
    host: Annotated[
        str,
        typer.Option(
            help="The address it listens on; only this machine by default. Whoever can reach another one can "
            "read all runs, and start work here."
        ),
    ] = "localhost",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the workbench: browse runs and formulas, look at states, see where a value function is right.

    A run comes along, so there is something to see at once.

    Example: `distill app --store artifacts/runs`.
    """
    if find_spec("streamlit") is None:
        raise InputError(
            "Streamlit is not installed; install the extra `app`: pip install 'planning-distill[app]'."
        )
    page = find_spec("app.main")
    if page is None or page.origin is None:
        raise InputError("The workbench is not installed; install planning-distill with its package `app`.")
    os.environ["DISTILL_STORE"] = str(store.resolve())
    flags = {
        "server.address": host,
        "server.port": port,
        "server.headless": str(no_browser).lower(),
        "server.fileWatcherType": "none",
        "server.maxUploadSize": _MEGABYTES,
        "browser.gatherUsageStats": "false",
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
    }
    arguments = [f"--{name}={value}" for name, value in flags.items()]
    root = str(Path(page.origin).parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", page.origin, *arguments])  # noqa: S606
