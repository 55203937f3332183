"""Distil learned planners into logic."""

__version__ = "0.1.0"
