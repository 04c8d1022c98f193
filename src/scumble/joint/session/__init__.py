"""One joint release from agreement to folder: what was agreed, what is kept on disk, and how a run is resumed."""
