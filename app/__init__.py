"""The workbench: reads, tests and exports value functions in the browser.

Pages read runs and evaluate formulas. They never run or fit networks and trees.
"""
