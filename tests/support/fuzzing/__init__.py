"""A mutation fuzzer with coverage feedback for every reader of input that comes from elsewhere.

`python -m fuzzing --help` has the command; docs/fuzzing.md has what it found.
"""
