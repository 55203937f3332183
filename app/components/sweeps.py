"""The sweeps of a store: their jobs, and the settings that matter."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from distill.common import InputError, open_regular, parse_json, read_text
from distill.jobs import MEASURES, SWEEPS, SettingEffect

SCORES = ("test_mae", "train_mae", "validation_mae", "exact", "features", "formula_size", "network_greedy")


@dataclass(frozen=True, eq=False)
class SweepResult:
    """A finished sweep.

    Attributes
    ----------
    folder : the folder of its summary.
    jobs : one row for each job, as in `summary.csv`.
    effects : the effect of each setting, largest first.
    """

    folder: Path
    jobs: pd.DataFrame
    effects: tuple[SettingEffect, ...]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def settings(self) -> list[str]:
        """The settings that vary, as columns of `jobs`."""
        columns = list(map(str, self.jobs.columns))
        return columns[columns.index("state") + 1 : columns.index("train_mae")]

    @property
    def main_effects(self) -> str:
        """The settings that matter, as text."""
        found = [
            f"{one.setting.removeprefix('distillation.')} for {MEASURES.get(one.measure, one.measure)} "
            f"({one.share:.0%}, best: {one.best})"
            for one in self.effects
            if one.matters
        ]
        return "; ".join(found) or "no setting has more effect than chance"


def sweeps_in(store: Path) -> tuple[list[SweepResult], list[str]]:
    """The sweeps of a store, newest first, and messages about those that cannot be read."""
    found, wrong = [], []
    for file in (store / SWEEPS).glob("*/summary.csv"):
        try:
            stamp = file.stat().st_mtime_ns
            found.append((-stamp, file.parent.name, _read(str(file.parent), stamp)))
        except (InputError, OSError) as error:
            wrong.append(str(error))
    return [done for *_, done in sorted(found, key=lambda one: one[:2])], sorted(wrong)


@st.cache_resource(max_entries=200, show_spinner="Reading sweeps")
def _read(folder: str, stamp: int) -> SweepResult:
    place = Path(folder)
    try:
        with open_regular(place / "summary.csv") as stream:
            jobs = pd.read_csv(stream)
        rows = parse_json(read_text(place / "effects.json"), "effects.json")
        done = SweepResult(place, jobs, tuple(SettingEffect(**row) for row in rows))
        _ = done.settings, done.main_effects, jobs[["run", "state", "error", *SCORES]]
    except (InputError, OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError(
            f"The sweep {place.name} cannot be read ({error}); `distill batch` writes its summary again."
        ) from error
    return done
