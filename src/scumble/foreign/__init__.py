"""Reads what comes from elsewhere (files, documents, numbers) within fixed bounds.

A release folder, a model, a schema or a ledger may have been written by someone hostile. Every reader of this package
refuses input beyond its bounds with a sentence, before the input costs time or memory. Nothing else in scumble opens a
file for reading, except the sources of private rows (`scumble.sources`). `tests/foreign/test_only_reader.py` checks it.
"""
