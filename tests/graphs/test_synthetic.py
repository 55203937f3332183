"""The synthetic sets: their formulas say what their words say."""

import numpy as np
import pytest

from distill.common import InputError
from distill.graphs import SYNTHETIC, synthetic_graphs

MEANT = {
    "emlc0": lambda near, inside: len(inside) > 13 / 2,
    "emlc1": lambda near, inside: any(len(ends) < 4 or len(ends) > 9 for ends in near),
    "emlc2": lambda near, inside: (
        sum(sum(len(near[y]) > 6 for y in ends) > len(ends) / 2 for ends in near) > 13 / 2
    ),
}


@pytest.mark.parametrize("name", SYNTHETIC)
def test_classes_follow_the_words(name):
    data = synthetic_graphs(name, 200, seed=1)
    for number in range(len(data)):
        one = data.graphs[[number]]
        near: list[set[int]] = [set() for _ in range(13)]
        for x, y in one.relations["edge"].tolist():
            near[x].add(y)
        inside = one.relations["u"][:, 0].tolist()
        assert data.label[number] == MEANT[name](near, inside)
        assert all(x in near[y] and x not in near[x] for x in range(13) for y in near[x])


@pytest.mark.parametrize("name", SYNTHETIC)
def test_both_classes_are_frequent_and_seeds_matter(name):
    data = synthetic_graphs(name, 1000, seed=0)
    assert 0.25 < data.label.mean() < 0.75
    assert data.graphs == synthetic_graphs(name, 1000, seed=0).graphs
    assert data.graphs != synthetic_graphs(name, 1000, seed=1).graphs
    assert len(data.graphs.relations["edge"]) == pytest.approx(1000 * 78, rel=0.02)
    assert np.isclose(len(data.graphs.relations["u"]), 6500, rtol=0.05)


def test_an_unknown_set_is_refused():
    with pytest.raises(InputError, match="There is no synthetic set @emlc9; did you mean"):
        synthetic_graphs("emlc9", 10, seed=0)
