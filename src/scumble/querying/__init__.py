"""Answers questions about the records behind a release, with intervals for the noise.

`expressions` and `parser` read a condition, `values` and `predicates` interpret it over the domains of a release,
`estimates` answers from measured tables, and `answers` is what a question returns.
"""
