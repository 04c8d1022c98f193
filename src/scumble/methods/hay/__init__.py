"""Hay: hierarchical histograms with consistency."""
