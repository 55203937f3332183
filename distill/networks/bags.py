"""Multisets of table rows: the messages of objects, and the embeddings of states."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch.nn.functional import embedding_bag

from distill.common import offsets, ranges

Integers = NDArray[np.int64]
_FLOOR = 1e-16


@dataclass(frozen=True, eq=False)
class Bags:
    """Multisets of rows.

    Attributes
    ----------
    offsets : (n_bags + 1,) the first entry of each bag.
    row : (n_entries,) rows of some table.
    count : (n_entries,) multiplicity of each entry.

    Examples
    --------
    >>> bags = Bags.of_matrix(sp.csr_array([[2, 1], [0, 0]]))
    >>> bags.reduce(torch.tensor([[1.0], [5.0]]), "sum").tolist()
    [[7.0], [0.0]]
    """

    offsets: Integers
    row: Integers
    count: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def of_matrix(counts: Any) -> "Bags":
        """One bag for each line of a sparse matrix (n_bags, n_rows) of counts."""
        matrix = sp.csr_array(counts)
        return Bags(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64)
        )

    @staticmethod
    def of_owners(owner: Integers, row: Integers, count: NDArray[Any], n_bags: int) -> "Bags":
        """Build bags from entries in any order, each with the number of its bag."""
        order = np.argsort(owner, kind="stable")
        begins = offsets(np.bincount(owner, minlength=n_bags))
        return Bags(begins, row[order], count[order].astype(np.float64))

    def __getitem__(self, bags: Integers) -> "Bags":
        """Some bags, by number."""
        sizes = np.diff(self.offsets)[bags]
        entries = ranges(self.offsets[bags], sizes)
        return Bags(offsets(sizes), self.row[entries], self.count[entries])

    def reduce(
        self, table: torch.Tensor, how: str, *, smoothness: float = 1.0, floor: str = "none"
    ) -> torch.Tensor:
        """Combine the rows of each bag.

        Parameters
        ----------
        table : (n_rows, k).
        how : `sum`, `mean`, `max` or `logsumexp`. An empty bag gives 0.
        smoothness, floor : of logsumexp, see `Architecture`.

        Returns
        -------
        (n_bags, k).
        """
        begin, row, count, _, _ = self._tensors
        if how == "max":
            return embedding_bag(row, table, begin, mode="max")
        if how == "logsumexp":
            return self._logsumexp(table, smoothness, floor)
        weights = None if count is None else count.to(table.dtype)
        total = embedding_bag(row, table, begin, mode="sum", per_sample_weights=weights)
        return total if how == "sum" else total / self._sizes.to(table.dtype).clamp(min=1.0)

    def _logsumexp(self, table: torch.Tensor, smoothness: float, floor: str) -> torch.Tensor:
        begin, row, count, owner, empty = self._tensors
        weights = None if count is None else count.to(table.dtype)
        if floor == "batch":
            most = table.detach().max() if len(table) else table.new_zeros(())
            exponents = (smoothness * (table - most)).exp()
            total = embedding_bag(row, exponents, begin, mode="sum", per_sample_weights=weights)
            return most + (total + _FLOOR).log() / smoothness
        with torch.no_grad():
            top = embedding_bag(row, table, begin, mode="max")
        exponents = table.index_select(0, row) - top.index_select(0, owner)
        exponents = (exponents if smoothness == 1 else smoothness * exponents).exp()
        entries = torch.arange(len(row))
        total = embedding_bag(entries, exponents, begin, mode="sum", per_sample_weights=weights)
        if floor == "object":
            return top + (total + _FLOOR).log() / smoothness
        if empty is None:
            return top + total.log() / smoothness
        return torch.where(empty, 0.0, top + (total + empty.to(table.dtype)).log() / smoothness)

    @cached_property
    def _tensors(
        self,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None, torch.Tensor, torch.Tensor | None]:
        """Offsets, rows, counts (None if all are 1), owners, and (n_bags, 1) empty bags (None if none is)."""
        sizes = np.diff(self.offsets)
        return (
            torch.from_numpy(self.offsets[:-1]),
            torch.from_numpy(self.row),
            None if (self.count == 1).all() else torch.from_numpy(self.count),
            torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)),
            None if sizes.all() else torch.from_numpy(sizes == 0)[:, None],
        )

    @cached_property
    def _sizes(self) -> torch.Tensor:
        """(n_bags, 1) the size of each bag, with multiplicities."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        return torch.from_numpy(np.bincount(owner, weights=self.count, minlength=len(self)))[:, None]
