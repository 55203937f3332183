from .clustering import (
    DISTANCES as DISTANCES,
    LINKAGES as LINKAGES,
    Dendrogram as Dendrogram,
    check_clustering as check_clustering,
    leaf_sets as leaf_sets,
    merge_order as merge_order,
)
from .splitter import merge_rows as merge_rows
from .tree import (
    Columns as Columns,
    Path as Path,
    Tree as Tree,
    fit_classifier as fit_classifier,
    fit_tree as fit_tree,
    one_hot as one_hot,
)
