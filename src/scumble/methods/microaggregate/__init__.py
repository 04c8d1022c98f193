"""Microaggregation with proved differential privacy: a private partition, with a centre and a noisy size a part."""
