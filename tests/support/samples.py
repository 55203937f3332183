"""Large sets of cases: the quick tests take some of them, and all are slow."""

import pytest
from hypothesis import settings


def some_and_all(step: int) -> pytest.MarkDecorator:
    """Parametrise a test by `step`: every so-maniest case is tested quickly, and all cases by a slow test."""
    return pytest.mark.parametrize(
        "step", [pytest.param(step, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
    )


def more_examples(times: int) -> settings:
    """So many times as many random examples as other tests have."""
    return settings(max_examples=times * settings.default.max_examples)
