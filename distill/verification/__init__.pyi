from .certificate import (
    certificate_of as certificate_of,
    coverage as coverage,
    size_of as size_of,
    write_certificate as write_certificate,
)
from .counterexample import Counterexample as Counterexample
from .exhaustive import Verification as Verification, Verifier as Verifier
from .plan_length_check import GreedyPlan as GreedyPlan, greedy_plans as greedy_plans
