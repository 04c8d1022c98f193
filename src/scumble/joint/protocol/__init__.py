"""Computation on secret shares: sharing, comparison circuits, and noise that no coalition knows.

No sockets and no files: messages go through a mesh that the caller supplies.
"""
