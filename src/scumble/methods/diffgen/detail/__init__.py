"""The detail beside the cells: class tables, and the fine rows drawn from them.

Queries in `counts.py`, `residuals.py` and `slopes.py`; everything else is post-processing of paid answers. All queries
need only sums over the records of numbers that depend on one record and on answers paid before, and comparisons of
such sums. So several owners can answer them together.
"""
