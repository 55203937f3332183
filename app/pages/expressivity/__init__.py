"""The page Expressivity."""

from app.pages.expressivity.page import show

__all__ = ["show"]
