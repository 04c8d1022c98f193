"""The methods there are. A new one is a folder here and a line in `METHODS`."""

from scumble.methods.diffgen.method import DiffGen
from scumble.methods.histograms.method import Histograms
from scumble.methods.method import Method

METHODS: tuple[Method, ...] = (DiffGen(), Histograms())
