from .clustering import (
    DISTANCES as DISTANCES,
    LINKAGES as LINKAGES,
    Dendrogram as Dendrogram,
    check_clustering as check_clustering,
    leaf_sets as leaf_sets,
    leaf_sets_of as leaf_sets_of,
    merge_order as merge_order,
)
from .counts import CountColumns as CountColumns, CountTree as CountTree
from .reference import fit_reference as fit_reference, reference_merges as reference_merges
from .splitter import merge_rows as merge_rows
from .tree import (
    Columns as Columns,
    Path as Path,
    Tree as Tree,
    fit_tree as fit_tree,
    one_hot as one_hot,
)
