"""The command `distill`: it parses options, calls the packages and prints their answers."""

from distill.cli.main import main

__all__ = ["main"]
