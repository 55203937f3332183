"""The page Runs."""

from app.pages.runs.page import show

__all__ = ["show"]
