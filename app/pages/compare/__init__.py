"""The page Compare."""

from app.pages.compare.page import show

__all__ = ["show"]
