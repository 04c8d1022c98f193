"""The verbs of the Python API, one module each.

A flow calls the other packages in order and contains no mathematics. Only `cli`, the package root and packages that
measure whole releases import from here.
"""
