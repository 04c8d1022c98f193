"""The kinds of release: one module a kind, each of which writes, reads, verifies and describes its own files."""
