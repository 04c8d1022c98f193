"""The text of a drafted or proposed schema: a schema with a heading, and a comment on every column."""

from collections.abc import Mapping
from dataclasses import dataclass

from scumble.files.schema_file import schema_text
from scumble.model.schema import Schema

DRAFT_HEADING = """\
A draft, derived from the private rows: it may reveal them.
For every attribute, replace the domain by one that is public knowledge. Then `scumble schema confirm FILE` replaces
`unconfirmed: true` by the reason why the domain is public.
Choose the unit of privacy, and name the class to predict as `target`. If a person may have several rows, name the
column that identifies persons as `person`, and how many rows of each are used as `rows_each_at_most`."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A drafted schema, and for each column why it was drafted so."""

    schema: Schema
    comments: Mapping[str, str]

    def text(self, heading: str = DRAFT_HEADING) -> str:
        return schema_text(self.schema, heading=heading, comments=self.comments)
