"""The detail beside the cells: class tables, and the fine rows drawn from them.

Queries in `queries.py`; everything else is post-processing of paid answers.
"""
