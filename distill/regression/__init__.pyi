from .column_pool import (
    ColumnPool as ColumnPool,
    Solution as Solution,
    Term as Term,
    distinct_rows as distinct_rows,
)
from .exact import ExactFit as ExactFit, fit_exact as fit_exact
from .level_search import (
    LevelFit as LevelFit,
    distinct_changes as distinct_changes,
    fit_levels as fit_levels,
)
from .linear import LinearFit as LinearFit, Method as Method, fit_linear as fit_linear, median as median
from .replacement import Replacement as Replacement
from .rounding import round_weights as round_weights
