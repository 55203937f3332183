"""`distill app`: the workbench in the browser."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from distill.cli import options
from distill.common import InputError

_MEGABYTES = 50  # of an uploaded file; pages have lower limits for some kinds of files


def app(
    store: options.StoreFolder = options.RUNS,
    port: Annotated[int, options.count_option("The port of the workbench.", most=65_535)] = 8501,
    host: Annotated[
        str,
        typer.Option(
            help="The address of the workbench; by default only this machine can open it. Everyone who can "
            "reach another address can read all runs and start jobs."
        ),
    ] = "localhost",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the workbench in the browser: runs, formulas, states, and the errors of value functions.

    An example run is included.

    Example: `distill app --store artifacts/runs`.
    """
    if find_spec("streamlit") is None:
        raise InputError(
            "Streamlit is not installed; install the extra `app`: pip install 'planning-distill[app]'."
        )
    page = find_spec("app.session.main")
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
    root = str(Path(page.origin).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", page.origin, *arguments])  # noqa: S606
