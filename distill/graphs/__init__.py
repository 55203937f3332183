"""Classification of graphs: files in the TU format, synthetic sets, and IDTs with cross-validation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
