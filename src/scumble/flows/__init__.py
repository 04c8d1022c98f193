"""The verbs: one module each, the straight line from public facts to a published folder.

A flow calls the other rooms in order and owns no mathematics. Only `cli`, the package root and rooms that measure
whole releases import from here.
"""
