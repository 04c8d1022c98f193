"""Barak: consistent, non-negative, integral marginals."""
