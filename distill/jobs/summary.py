"""The summary of a sweep: one row for each job, and the effects of the settings."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from distill.common import atomic_write, content_key, drawing
from distill.jobs.batch import DONE, Work

Array = NDArray[np.float64]
MEASURES = {"test_mae": "error on test", "formula_size": "size"}
SWEEPS = "sweeps"
_SHUFFLES = 500
_SURE = 0.95
_DRAWN = 4  # settings whose values are drawn
_OF_BASE = "as in the base"
_LONGEST = 18  # characters of a value beside its points


@dataclass(frozen=True)
class SettingEffect:
    """The effect of a setting on a measure.

    Attributes
    ----------
    setting, measure : their names.
    share : the share of the variance between jobs that the setting explains (η²), within each base.
    chance : the share that a setting without effect exceeds in one of twenty sweeps.
    best : the value with the smallest mean.
    """

    setting: str
    measure: str
    share: float
    chance: float
    best: str

    @property
    def matters(self) -> bool:
        """Whether it explains more than chance would."""
        return self.share > self.chance


def table_of(works: Sequence[Work]) -> pd.DataFrame:
    """One row for each job: its settings and its scores."""
    keys = list(dict.fromkeys(key for work in works for key in work.job.settings))
    rows = []
    for work in works:
        settings = {key: _text(work.job.settings.get(key)) for key in keys}
        rows.append(
            {"run": work.name or "", "state": work.state, **settings, **_scores(work), "error": work.error}
        )
    return pd.DataFrame(rows)


def _scores(work: Work) -> dict[str, Any]:
    metrics = work.metrics
    splits = metrics.get("splits", {})
    fidelity = metrics.get("fidelity", {})
    found: dict[str, Any] = {}
    for name in ("train", "validation", "test"):
        score = splits.get(name, {})
        found[f"{name}_mae"] = score.get("mae", np.nan)
        found[f"{name}_max_error"] = score.get("max_error", np.nan)
    test = splits.get("test", {})
    solved = test["solved"] / test["instances"] if test.get("instances") else np.nan
    agreement = fidelity.get("greedy_agreement")
    return {
        **found,
        "test_solved": solved,
        "exact": bool(metrics.get("fit", {}).get("exact", False)) if work.state == DONE else None,
        "features": metrics.get("features", np.nan),
        "formula_size": metrics.get("formula_size", np.nan),
        "network_mae": fidelity.get("mae", np.nan),
        "network_greedy": np.nan if agreement is None else agreement,
    }


def effects(table: pd.DataFrame, settings: Sequence[str]) -> list[SettingEffect]:
    """The effects of settings, largest first.

    Errors are compared within one base, as bases are problems of different difficulty.

    Parameters
    ----------
    settings : columns of the table that vary.

    Examples
    --------
    >>> table = pd.DataFrame({"state": "done", "a": list("xxyy") * 3, "b": list("uvuv") * 3})
    >>> table["test_mae"] = table["formula_size"] = [0.0, 0.0, 1.0, 1.0] * 3
    >>> [(one.setting, one.share, one.matters) for one in effects(table, ["a", "b"])][:2]
    [('a', 1.0, True), ('a', 1.0, True)]
    """
    found = []
    done = table[table["state"] == DONE]
    for measure in MEASURES:
        known = done[done[measure].notna()]
        values = known[measure].to_numpy(dtype=np.float64)
        if len(known) < 3 or np.ptp(values) == 0:
            continue
        for setting in settings:
            level = _levels(known, setting)
            if level.max() == 0:
                continue
            base = _levels(known, "base") if setting != "base" and "base" in known else np.zeros_like(level)
            centred = values - _means(values, base)[base]
            random = np.random.default_rng(0)
            shuffled = [_share(centred, _within(level, base, random)) for _ in range(_SHUFFLES)]
            means = _means(centred, level)
            best = _texts(known, setting)[np.flatnonzero(level == means.argmin())[0]]
            chance = float(np.quantile(shuffled, _SURE))
            found.append(SettingEffect(setting, measure, _share(centred, level), chance, best))
    return sorted(found, key=lambda one: (-one.share, one.setting, one.measure))


def _texts(table: pd.DataFrame, column: str) -> list[str]:
    """(n_rows,) the value of a column in each row; a case that leaves it out has that of its base."""
    return [str(one) for one in table[column].where(table[column].notna(), _OF_BASE)]


def _levels(table: pd.DataFrame, column: str) -> NDArray[np.int64]:
    """(n_rows,) the value of a column in each row, numbered."""
    return np.unique(_texts(table, column), return_inverse=True)[1].astype(np.int64)


def _means(values: Array, level: NDArray[np.int64]) -> Array:
    return np.asarray(np.bincount(level, values) / np.maximum(1, np.bincount(level)))


def _share(values: Array, level: NDArray[np.int64]) -> float:
    """The share of the variance of values (n,) that the means of levels (n,) explain."""
    total = float(((values - values.mean()) ** 2).sum())
    if total == 0:
        return 0.0
    return float(((_means(values, level)[level] - values.mean()) ** 2).sum() / total)


def _within(
    level: NDArray[np.int64], base: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    """Levels (n,) shuffled within each base (n,)."""
    order = np.lexsort((random.random(len(level)), base))
    found = np.empty_like(level)
    found[np.argsort(base, kind="stable")] = level[order]
    return found


def write_summary(name: str, works: Sequence[Work], varied: Sequence[str], store: Path) -> Path:
    """Write the table, the effects and a figure into a folder of the sweep. Returns the folder."""
    jobs = [[work.name, dict(work.job.settings)] for work in works]
    place = store / SWEEPS / f"{name}-{content_key(jobs)[:8]}"
    table = table_of(works)
    found = effects(table, varied)
    with atomic_write(place / "summary.csv") as stream:
        stream.write(table.to_csv(index=False).encode())
    with atomic_write(place / "summary.parquet") as stream:
        table.to_parquet(stream, index=False)
    with atomic_write(place / "effects.json") as stream:
        stream.write(json.dumps([asdict(one) for one in found], indent=1).encode())
    if found:
        draw_summary(table, found, place / "summary.svg")
    return place


def draw_summary(table: pd.DataFrame, found: Sequence[SettingEffect], path: Path) -> None:
    """Draw the share of each setting, and the test errors by the values of the strongest settings."""
    settings = list(dict.fromkeys(one.setting for one in found))
    shown = settings[:_DRAWN]
    done = table[table["state"] == DONE]
    with drawing(path, panels=1 + len(shown), width=4.2, height=3.6) as [first, *rest]:
        width = 0.8 / len(MEASURES)
        for number, (measure, label) in enumerate(MEASURES.items()):
            mine = {one.setting: one for one in found if one.measure == measure}
            places = [place for place, name in enumerate(settings) if name in mine]
            bars = [mine[settings[place]] for place in places]
            at = [place + (number - 0.5) * width for place in places]
            first.barh(at, [bar.share for bar in bars], height=width, label=label, color=f"C{number}")
            first.plot([bar.chance for bar in bars], at, "k|", markersize=10)
        first.set_yticks(range(len(settings)), [_short(name) for name in settings])
        first.invert_yaxis()
        first.set(title="what matters", xlabel="share of variance; | by chance", xlim=(0, 1))
        first.legend(frameon=False)
        for axes, setting in zip(rest, shown, strict=True):
            _draw_values(axes, done, setting)


def _draw_values(axes: Any, table: pd.DataFrame, setting: str) -> None:
    texts = pd.Series(_texts(table, setting), index=table.index)
    names = list(dict.fromkeys(texts))
    spread = np.random.default_rng(0)
    for place, name in enumerate(names):
        errors = table.loc[texts == name, "test_mae"].to_numpy(dtype=np.float64)
        axes.plot(errors, place + spread.uniform(-0.2, 0.2, len(errors)), "o", alpha=0.5, markersize=4)
        axes.plot([np.nanmean(errors)] if np.isfinite(errors).any() else [], [place][: len(errors)], "kD")
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.invert_yaxis()
    axes.set(title=_short(setting), xlabel="error on test (◆ mean)")


def _short(name: str) -> str:
    last = name.rpartition(".")[2] if name.startswith(("distillation.", "training.", "network.")) else name
    last = Path(last).stem if "/" in last else last
    return last if len(last) <= _LONGEST else f"{last[: _LONGEST - 1]}…"


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
