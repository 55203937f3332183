from .archive import read_archive as read_archive, write_archive as write_archive
from .batch import Structures as Structures, concatenate as concatenate
from .dataset import DataSet as DataSet, join as join
from .labels import UNSOLVABLE as UNSOLVABLE, V_STAR as V_STAR, inverse_frequency as inverse_frequency
from .quotient import (
    Counts as Counts,
    Layer as Layer,
    Links as Links,
    Options as Options,
    Pairs as Pairs,
    Quotient as Quotient,
    joint_messages as joint_messages,
)
from .transitions import (
    EQUAL as EQUAL,
    Transitions as Transitions,
    best_successors as best_successors,
    greedy_successors as greedy_successors,
    join_transitions as join_transitions,
)
from .vocabulary import (
    ACHIEVED as ACHIEVED,
    GOAL as GOAL,
    GOAL_ABSENT as GOAL_ABSENT,
    MISSING as MISSING,
    Predicate as Predicate,
    Vocabulary as Vocabulary,
)
