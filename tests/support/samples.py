"""Large sets of cases: the quick tests take some of them, and all are slow."""

import pytest


def some_and_all(step: int) -> pytest.MarkDecorator:
    """Parametrise a test by `step`: every so-maniest case is tested quickly, and all cases by a slow test."""
    return pytest.mark.parametrize(
        "step", [pytest.param(step, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
    )
