"""The edge to the disk: codecs for schemas and releases, the folder that appears whole or not at all, verification.

Nothing here reads a private row; that is the business of `sources`.
"""
