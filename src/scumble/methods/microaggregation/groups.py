"""What every microaggregation publishes: groups with a centre and a size, which anyone can write out as records."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Integers
from scumble.model.plan import Plan, PlanWithoutDP
from scumble.privacy.query import Box


@dataclass(frozen=True, kw_only=True)
class PublishedGroups:
    """Groups in an order that tells nothing of the rows' order. Which record belongs to which group is not published.

    `centres` has a line for each group and an entry for each attribute: a number, or the label of a category.
    `sizes` are whole numbers, none negative; `measured` are the sizes as the noise left them, None where sizes follow
    from public numbers. `boxes` are the regions that a private partition publishes, None for the MDAV family.
    """

    method: str
    plan: Plan | PlanWithoutDP
    names: tuple[str, ...]
    centres: tuple[tuple[float | str, ...], ...]
    sizes: Integers
    measured: Integers | None = None
    boxes: tuple[Box, ...] | None = None
    story: tuple[str, ...] = ()

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The centres as numbers, where no attribute is a category."""
        return np.array(self.centres, dtype=np.float64).reshape(len(self.centres), len(self.names))
