"""Runs on built-in data: the demo, and the rehearsal of a joint release."""
