"""The page Start work."""

from app.pages.start.page import show

__all__ = ["show"]
