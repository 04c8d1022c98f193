"""Differentially private microaggregation: a private partition with a centre and a noisy size of each part."""
