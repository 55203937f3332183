"""PDDL, problem classes, state spaces with V*, planners, policy execution and plan validation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
