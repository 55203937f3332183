"""The command `distill`: thin, it parses, calls and prints."""

from distill.cli.main import main

__all__ = ["main"]
