"""Empirical checks of privacy: laws that every query and method must satisfy, lower bounds on epsilon, attacks."""
