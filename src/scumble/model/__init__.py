"""The nouns: schema, taxonomy, counts, plan, guarantee, release. No randomness and no files."""
