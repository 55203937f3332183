"""The settings of a distillation."""

from typing import Any, Literal

from pydantic import NonNegativeInt

from distill.common import MOST_SEED, Names, Real, Settings, SomeNames, setting

_THESIS = ("sampling", "engine", "closures")


class Distillation(Settings):
    """How a network becomes a value function: an R-IDT and a regression (thesis Table 4.1)."""

    mode: Literal["readable", "quotient", "thesis"] = setting(
        "readable",
        "readable: each feature is replaced by the shortest equivalent formula before the next layer is "
        "fitted. quotient: features are the formulas of trees on all states. thesis: Algorithm 2 and "
        "chapter 4 of the thesis, on samples of states.",
        stage="replay",
    )
    pool: Literal["ridt", "ridt+polish", "enumerate", "both"] = setting(
        "ridt",
        "Readable mode. ridt: features come from trees. ridt+polish: likewise, and an exact function is "
        "rewritten in fewer symbols. enumerate: all short formulas, without a network. both: the union.",
        stage="distil",
    )
    control: Literal["none", "untrained", "permuted"] = setting(
        "none",
        "Readable mode: replace the network by an untrained one, or permute its embeddings across rows.",
        stage="replay",
    )
    states: NonNegativeInt = setting(
        1000,
        "Readable mode: number of states for trees, spread over V*; the value function is fitted to all.",
        stage="replay",
    )
    feature_size: NonNegativeInt = setting(
        8,
        "Readable mode: largest size of a feature about objects. An achieved or missing goal is one symbol.",
        stage="distil",
    )
    chain_size: NonNegativeInt = setting(
        20, "Readable mode: largest size of a single split, which may nest many modals.", stage="distil"
    )
    chain_steps: NonNegativeInt = setting(
        4,
        "Readable mode: consecutive steps along a relation in trees that admit its distances; 0 for never.",
        stage="regress",
    )
    rounds: NonNegativeInt = setting(
        2, "Readable mode: rounds of trees on remaining errors, if the fit is not exact.", stage="regress"
    )
    max_features: NonNegativeInt = setting(
        8, "Largest number of terms of an exact value function, if so few suffice.", stage="regress"
    )
    time_limit: Real = setting(
        60.0, "Seconds of processor time to find the shortest exact value function.", stage="regress"
    )
    inner_depth: NonNegativeInt = setting(5, "Largest depth of a tree about objects.", stage="distil")
    final_depth: NonNegativeInt = setting(5, "Largest depth of a tree about states.", stage="distil")
    inner_width: NonNegativeInt = setting(
        12, "Number of trees about objects for each layer of the network.", stage="distil"
    )
    final_width: NonNegativeInt = setting(12, "Number of trees about states.", stage="distil")
    inner_sample: NonNegativeInt = setting(
        10_000,
        "Thesis mode: number of states drawn without replacement for each tree about objects.",
        stage="distil",
    )
    final_sample: NonNegativeInt = setting(
        10_000,
        "Thesis mode: number of states drawn without replacement for each tree about states.",
        stage="distil",
    )
    sampling: Literal["uniform", "spread", "informed"] = setting(
        "uniform",
        "Thesis mode. uniform: every state is equally likely to be drawn, as in the thesis. spread: every "
        "value of V* is. informed: states on which the trees of the layer so far have large errors are "
        "likelier.",
        stage="distil",
    )
    closures: bool = setting(
        False,
        "Thesis mode: trees about objects also split on paths along each given relation (thesis 5.6.1).",
        stage="distil",
    )
    engine: Literal["quotient", "sklearn"] = setting(
        "quotient",
        "Thesis mode: fit trees to merged rows with weights, or to single objects with scikit-learn.",
        stage="distil",
    )
    without: Names[Literal["linkages", "splits", "cheapness", "bootstrap", "closures", "derived"]] = setting(
        (),
        "Readable mode: parts to leave out, for ablations. linkages: all but Ward. splits: splits as "
        "features. cheapness: the preference for cheap splits. bootstrap: random weights of states for each "
        "tree. closures: transitive closures. derived: achieved and missing goals.",
        stage="distil",
    )
    thresholds: NonNegativeInt = setting(
        10, "Readable and quotient mode: largest threshold t of splits `count > t`.", stage="distil"
    )
    pooling: Literal["sum", "max"] = setting(
        "sum",
        "Trees about states split on the number of objects with a feature, or on whether one has it.",
        stage="distil",
    )
    distance: Literal["euclidean", "manhattan", "cosine"] = setting(
        "euclidean", "Distance between the values of leaves.", stage="distil"
    )
    linkage: Literal["ward", "average", "complete", "single"] = setting(
        "ward", "Linkage between sets of leaves.", stage="distil"
    )
    features: SomeNames[Literal["boolean", "numerical", "combined"]] = setting(
        ("boolean", "numerical", "combined"),
        "Kinds of state features: whether an object has a feature, how many have it, and combinations of "
        "features.",
        stage="regress",
    )
    regression: Literal["auto", "exact", "squares", "absolute", "sgd"] = setting(
        "auto",
        "exact: the shortest value function with whole weights and no error, if there is one. squares: "
        "least squares. absolute: least absolute errors. sgd: the same by stochastic gradient descent. "
        "auto: exact in readable mode, which has no other; squares in thesis mode; in quotient mode squares "
        "with non-negative weights.",
        stage="regress",
    )
    intercept: bool = setting(True, "Whether the value function has a constant.", stage="regress")
    nonnegative: bool = setting(
        False, "Whether weights must be at least 0; the constant need not.", stage="regress"
    )
    target: Literal["optimal", "model"] = setting(
        "optimal", "The values to explain: V*, or those of the network.", stage="regress"
    )
    seed: NonNegativeInt = setting(0, "Seed of samples and weights.", stage="replay", most=MOST_SEED)

    @property
    def is_readable(self) -> bool:
        """Whether features are short formulas, not those of trees."""
        return self.mode == "readable"

    @property
    def needs_stable_rows(self) -> bool:
        """Whether features of a layer see further than the layer."""
        return self.mode == "thesis" and self.closures

    def of_stage(self, stage: str) -> dict[str, Any]:
        """See `Settings.of_stage`; what only thesis mode uses does not change the keys of other modes.

        Examples
        --------
        >>> ["engine" in Distillation(mode=mode).of_stage("distil") for mode in ("readable", "thesis")]
        [False, True]
        """
        given = super().of_stage(stage)
        return (
            given if self.mode == "thesis" else {name: given[name] for name in given if name not in _THESIS}
        )
