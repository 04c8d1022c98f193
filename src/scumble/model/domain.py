"""The public domain of an attribute: a taxonomy, which is split into children, or a grid, which is split anywhere."""

from scumble.model.grid import Grid
from scumble.model.taxonomy import Tree

Domain = Tree | Grid
