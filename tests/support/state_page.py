"""The page States alone, as an address shows it, and what is on it."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.support import page_content


def shown(store: Path, monkeypatch, **address: str) -> AppTest:
    """The page alone, as an address shows it."""
    return page_content.shown("states", store, monkeypatch, **address)


def asked(at: AppTest, key: str) -> str:
    value = at.query_params.get(key, "")
    return value if isinstance(value, str) else value[0]


def metrics(at: AppTest) -> dict[str, str]:
    return {one.label: one.value for one in at.metric}
