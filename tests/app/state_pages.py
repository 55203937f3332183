"""The page States alone, as an address shows it, and what is on it."""

from pathlib import Path

import pandas as pd
from streamlit.testing.v1 import AppTest


def shown(store: Path, monkeypatch, **address: str) -> AppTest:
    """The page alone, as an address shows it."""

    def script() -> None:
        from app.views.state import page

        page()

    monkeypatch.setenv("DISTILL_STORE", str(store))
    at = AppTest.from_function(script, default_timeout=60)
    for key, value in address.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    """All sentences, without what keeps them from being markup."""
    kinds = ("error", "warning", "info", "success", "caption", "text")
    return "\n".join(one.value for kind in kinds for one in getattr(at, kind)).replace("\\", "")


def asked(at: AppTest, key: str) -> str:
    value = at.query_params.get(key, "")
    return value if isinstance(value, str) else value[0]


def frame(at: AppTest, *columns: str) -> pd.DataFrame:
    return next(one.value for one in at.dataframe if set(columns) <= set(one.value.columns))


def metrics(at: AppTest) -> dict[str, str]:
    return {one.label: one.value for one in at.metric}
