"""Local randomizers: how a person perturbs their own record, and the exact distribution of the report.

Parameters and probabilities only. Random bits are drawn in `scumble.privacy`.
"""
