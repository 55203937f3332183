"""The page Value function."""

from app.pages.value.page import show

__all__ = ["show"]
