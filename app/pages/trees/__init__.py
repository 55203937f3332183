"""The page Trees and embeddings."""

from app.pages.trees.page import show

__all__ = ["show"]
