"""A fault harness: commands that fail, are killed or are interrupted at their n-th system call, and what remains.

`python -m faults --help` has the command; docs/faults.md has what it found.
"""
