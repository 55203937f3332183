"""Families: terms of a value function whose formulas are one formula iterated, and their closed forms."""
