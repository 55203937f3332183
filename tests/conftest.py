"""What all tests share: data by others if it is there, and a cache that belongs to this test run."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

from distill.planning import prepare, problem_class
from distill.structures import DataSet

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=20)
settings.load_profile("steady")

SHARED = Path(__file__).parents[2] / "shared" / "data" / "pddl"


# Whoever uses one of these starts a browser, or waits for a workbench.
_BROWSER = {"browser", "chromium", "workbench"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in a browser are slow; others carry the marker themselves."""
    for item in items:
        if _BROWSER & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shared_pddl() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the PDDL instances made by others (../shared/data/pddl) are not here")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def cache_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All workers of one test run share a cache, and no run sees the cache of another."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "cache"
    os.environ["DISTILL_CACHE"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def training_set():
    """The labelled training states of a problem class; those of some instances take less time."""

    def make(name: str, step: int = 1) -> DataSet:
        split = problem_class(name).split("train")
        return prepare(replace(split, instances=split.instances[::step]), workers=1)[0]

    return make
