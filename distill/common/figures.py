"""The style of all figures."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from distill.common.errors import InputError
from distill.common.files import atomic_write, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")


def check_format(path: Path | None) -> None:
    """Raise an error if a figure cannot be written in the format of a file; do this before long work."""
    if path is not None and path.suffix not in FORMATS:
        raise InputError(f"{shown(path)} must end in one of {', '.join(FORMATS)}.")


@contextlib.contextmanager
def drawing(
    path: Path, panels: int = 1, width: float = 4.0, height: float = 3.0, *, columns: int | None = None
) -> "Iterator[list[Axes]]":
    """Draw into a file: yields the axes of `panels` panels, then saves and closes the figure.

    Parameters
    ----------
    width, height : of a panel, in inches.
    columns : the panels of a row; all are side by side if left out.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "line.svg"
    >>> with drawing(file) as [axes]:
    ...     _ = axes.plot([0, 1], [0, 1])
    >>> file.exists()
    True
    """
    check_format(path)
    import matplotlib

    matplotlib.use("Agg")
    # A fixed salt and no date: the same data gives the same file.
    matplotlib.rcParams["svg.hashsalt"] = "distill"
    import seaborn as sns
    from matplotlib import pyplot as plt

    with sns.axes_style("whitegrid"), sns.plotting_context("paper"), sns.color_palette("colorblind"):
        across = columns or panels
        down = -(-panels // across)
        figure, axes = plt.subplots(down, across, figsize=(width * across, height * down), squeeze=False)
        try:
            yield list(axes.flat)
            sns.despine(figure)
            figure.tight_layout()
            metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
            with atomic_write(path) as stream:
                figure.savefig(stream, dpi=150, metadata=metadata, format=path.suffix[1:])
        finally:
            plt.close(figure)
