"""The PDDL that is supported, and a check that a text is nothing else, before any parser reads it."""

from distill.planning.language.conditions import RESERVED as RESERVED
from distill.planning.language.definitions import check_domain as check_domain, check_problem as check_problem
from distill.planning.language.expressions import MAX_NESTING as MAX_NESTING, Text as Text
