"""A decision tree learned from noisy cell counts with known variance."""
