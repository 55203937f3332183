"""Golden tests compare what users get with expected data; `--write-golden` writes the expected data anew."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.support import Golden, World

OPTION = "--write-golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="Write the expected data of tests/golden anew.")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """A test that wrote its expected data has compared nothing, so it does not pass."""
    done = yield
    if pyfuncitem.config.getoption(OPTION, default=False) and "golden" in pyfuncitem.fixturenames:
        pytest.skip("wrote the expected data; read the difference, then run the test without --write-golden")
    return done


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(write=request.config.getoption(OPTION, default=False))


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A folder with four Blocks instances, an untrained network and configs; it has a cache of its own."""
    return World.make(Path(tmp_path_factory.mktemp("golden")).resolve())
