"""The page Laboratory."""

from app.pages.laboratory.page import show

__all__ = ["show"]
