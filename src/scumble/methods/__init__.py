"""The methods there are. A new one is a folder here and a line in `METHODS`."""

from scumble.methods.diffgen.method import DiffGen
from scumble.methods.histograms.method import Histograms
from scumble.methods.mdav.method import I_MDAV, MDAV, PLAIN, S_MDAV
from scumble.methods.method import Method
from scumble.methods.microaggregate.method import Microaggregate

METHODS: tuple[Method, ...] = (DiffGen(), Histograms(), Microaggregate(), MDAV(), I_MDAV, S_MDAV, PLAIN)
