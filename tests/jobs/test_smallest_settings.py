"""The smallest value of each number of a distillation: a run, or a refusal in one sentence."""

from pathlib import Path

import pytest

from distill.common import InputError
from distill.distillation import Distillation
from distill.jobs import do_job
from tests.support.small_jobs import small_config

REFUSED = {
    "states": "No state",
    "max_features": "at least 1",
    "inner_depth": "at least 1",
    "final_depth": "at least 1",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Path:
    """The instances, and what the runs have in common in a cache."""
    return tmp_path_factory.mktemp("smallest")


@pytest.mark.slow
@pytest.mark.parametrize("name", Distillation.numbers())
def test_the_smallest_value(name, shared, tmp_path) -> None:
    least, _ = Distillation.bounds(name)
    config = small_config(shared, **{"time_limit": 3.0, name: least})
    if name in REFUSED:
        with pytest.raises(InputError, match=REFUSED[name]) as caught:
            do_job(config, tmp_path / "runs", cache=shared / "cache")
        assert "\n" not in str(caught.value)
    else:
        run = do_job(config, tmp_path / "runs", cache=shared / "cache")
        assert run.metrics["splits"].keys() == {"train", "test"}
