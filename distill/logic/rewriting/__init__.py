"""Rewriting: equivalent formulas that are simpler, shorter or use other names."""
