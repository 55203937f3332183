"""The page States."""

from app.pages.states.page import show

__all__ = ["show"]
