"""The nouns: schema, taxonomy, values, counts, plan, guarantee, release.

Frozen values and pure functions. No randomness, no files, no engine; imports nothing but `errors`.
"""
