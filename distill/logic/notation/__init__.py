"""Notation: how formulas are written, parsed and stored."""
