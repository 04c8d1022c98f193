"""Privelet: wavelets of a whole table."""
