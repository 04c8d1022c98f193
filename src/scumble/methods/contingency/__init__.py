"""Contingency: the whole contingency table with noise on every count."""
