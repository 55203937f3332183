"""The page Accuracy."""

from app.pages.accuracy.page import show

__all__ = ["show"]
