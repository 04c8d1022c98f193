"""What an `explore` release publishes besides its rows: the measured tables, and a summary of the model.

The format of the document `tables` is described in docs/explore.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.margins import NoisyMargin, ValueBins
from scumble.model.measured_tables import NoiseKind
from scumble.model.schema import Schema

TABLES_FORMAT = "tables/1"


def tables_document(
    schema: Schema, tables: Sequence[NoisyMargin], records: tuple[float, float], noise: NoiseKind
) -> dict[str, Any]:
    """All noisy tables with their variances, as plain data."""
    estimate, deviation = records
    return {
        "format": TABLES_FORMAT,
        "noise": noise.value,
        "records": {"estimate": estimate, "deviation": deviation},
        "tables": [
            {
                "attributes": table.margin.names(schema),
                "bins": [list(bins.starts) for bins in table.margin.bins],
                "unit": table.unit,
                "counts": table.measured.tolist(),
                "variance": table.variance,
            }
            for table in tables
        ],
    }


def model_document(schema: Schema, model: GraphicalModel, bins: Sequence[ValueBins]) -> Mapping[str, Any]:
    """The bins of every attribute in the model, and the attributes of its cliques, between which all is modelled."""
    names = schema.names
    return {
        "bins": {name: list(each.starts) for name, each in zip(names, bins, strict=True)},
        "cliques": [[names[place] for place in clique] for clique in model.tree.cliques],
        "separators": [[names[place] for place in places] for places in model.tree.separators],
    }
