"""Local randomizers: what a person does to their own record, and the exact law of the result.

Pure values and probabilities: no randomness is drawn here.
"""
