"""What the page of a state shows, and its parts, which fail alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from app.opened import Opened
from app.parts import plain, written
from app.selection import notation
from app.state_choice import Chosen
from distill.errors import InputError
from distill.jobs.inspection import Inspection, State
from distill.logic import Node

_FAILURES = (OSError, ValueError, LookupError, TypeError, ArithmeticError, RuntimeError)


@dataclass(frozen=True, eq=False)
class View:
    """A state of a run, perhaps at a step of a plan that begins in the chosen one."""

    run: Opened
    chosen: Chosen
    inspection: Inspection
    state: State
    step: int = 0

    @property
    def name(self) -> str:
        """For files."""
        step = f"-step{self.step}" if self.step else ""
        return f"{self.chosen.split}-state{self.chosen.number}{step}"

    @property
    def write(self) -> Callable[[Node], str]:
        """How formulas are written in tables, where LaTeX would be shown as its source."""
        form = "emlc" if notation() == "latex" else None
        return lambda formula: written(formula, self.run, form)


@contextmanager
def part() -> Iterator[None]:
    """A part of the page: what goes wrong in it is told there and leaves the others alone."""
    try:
        yield
    except InputError as error:
        st.warning(plain(error))
    except _FAILURES as error:
        st.error(f"This part cannot be shown ({type(error).__name__}: {plain(error)}).")
