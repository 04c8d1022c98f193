"""`python -m scumble`."""

from scumble.cli import main

main()
