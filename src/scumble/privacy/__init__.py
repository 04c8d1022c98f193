"""Everything that touches epsilon or noise: queries, the purse, the holder, the ledger, the sources of randomness.

Budgets are exact fractions. Randomness enters through `noise.py` and nowhere else in the package.
"""
