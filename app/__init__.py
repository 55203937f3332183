"""The workbench: a person reads, tests, questions and exports what a network became in logic.

Pages read runs and evaluate formulas; they never run or fit networks and trees.
"""
