"""Widgets that pages share: formulas, tables, charts and pictures of states."""
