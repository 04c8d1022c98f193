"""The detail beside the cells: class tables measured inside them, and the fine rows drawn from both.

Queries in `queries.py`; everything else is post-processing of paid answers.
"""
