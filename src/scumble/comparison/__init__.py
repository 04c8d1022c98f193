"""Compares methods on repeated random splits of public tables, including methods of other projects (peers)."""
