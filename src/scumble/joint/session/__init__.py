"""One joint release as a session: its agreement, what each party stores on disk, and how a run is resumed."""
