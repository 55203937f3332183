"""From activations to an explanation: sampling, R-IDT layers, targets, fitting and polishing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
