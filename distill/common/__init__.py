"""Errors, atomic files, the cache, worker processes, array tools, settings and figures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
