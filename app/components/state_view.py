"""The chosen state, and the state that a page shows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.components.formula_display import formula_text
from app.session.run_session import RunSession
from app.session.selection import notation
from distill.evaluation import Inspection, InstanceState
from distill.logic import Node
from distill.structures import UNSOLVABLE, DataSet


@dataclass(frozen=True, eq=False)
class StateChoice:
    """The chosen state.

    Attributes
    ----------
    split : its split.
    number : its number within the split.
    data : all states of the split.
    rows : one row for each of them; see `RunSession.table`.
    """

    split: str
    number: int
    data: DataSet
    rows: pd.DataFrame

    @property
    def instance(self) -> int:
        """The number of its instance."""
        return int(self.data.state_instance[self.number])

    @property
    def network(self) -> NDArray[np.float64] | None:
        """(n_states,) the values of the network; None without a network."""
        return self.rows["network"].to_numpy() if "network" in self.rows else None


def v_star_text(v_star: int | None) -> str:
    """V* as text."""
    return "–" if v_star is None else "dead end" if v_star == UNSOLVABLE else str(v_star)


@dataclass(frozen=True, eq=False)
class StateView:
    """A state of a run: the chosen one, or a later one of a plan that starts there."""

    run: RunSession
    choice: StateChoice
    inspection: Inspection
    state: InstanceState
    step: int = 0

    @property
    def name(self) -> str:
        """The name for files."""
        step = f"-step{self.step}" if self.step else ""
        return f"{self.choice.split}-state{self.choice.number}{step}"

    @property
    def write(self) -> Callable[[Node], str]:
        """Formats formulas for tables, which cannot typeset LaTeX."""
        form = "emlc" if notation() == "latex" else None
        return lambda formula: formula_text(formula, self.run, form)
