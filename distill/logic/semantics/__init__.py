"""Semantics: the value of a formula on structures and on quotients, and sets of rows as packed bits."""
