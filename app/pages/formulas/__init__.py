"""The page Formulas."""

from app.pages.formulas.page import show

__all__ = ["show"]
