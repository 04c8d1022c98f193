"""Files: schemas, release folders and their verification. Folders are published atomically.

Nothing here reads private rows; `sources` does.
"""
