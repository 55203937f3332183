"""Formulas can be printed without the heavy libraries of the other packages."""

import subprocess
import sys

CODE = """
import sys
from distill.logic import explain, parse, write_defined
print(explain(parse("<on>clear")), write_defined(parse("#clear")))
print(*{"torch", "pandas", "matplotlib", "seaborn", "networkx", "pymimir"} & set(sys.modules))
"""


def test_printing_a_formula_loads_no_heavy_library():
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    printed, loaded = found.stdout.splitlines()
    assert "V = #clear" in printed
    assert loaded == ""
