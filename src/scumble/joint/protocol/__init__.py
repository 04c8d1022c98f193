"""The multi-party computation: replicated secret sharing, circuits on shared bits, and noise that no coalition knows.

Nothing here opens a socket or a file. All messages go through a `Mesh` that the caller supplies.
"""
