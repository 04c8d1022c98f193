"""Empirical checks of the guarantees: laws of queries and methods, lower bounds on epsilon, attacks."""
