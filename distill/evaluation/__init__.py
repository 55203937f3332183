"""Errors, greedy execution, fidelity to the network, instances far beyond, and suites of domains."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
