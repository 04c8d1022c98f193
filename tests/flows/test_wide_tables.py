"""More attributes than numpy has dimensions: every part of a release works on them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from scumble import evaluate, load_release, query, release, verify
from scumble.files.schema_file import parse_schema
from scumble.flows.draft import draft
from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier
from scumble.model.release import CellRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

ATTRIBUTES = 90
SCHEMA = parse_schema(
    "scumble: schema/1\ntarget: ill\nattributes:\n"
    + "".join(f"  a{number}: {{numeric: {{low: 0, high: 4, step: 1}}}}\n" for number in range(ATTRIBUTES))
    + "  ill: {classes: ['no', 'yes']}\n"
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = np.random.default_rng(1)
    values = draw.integers(0, 4, (600, ATTRIBUTES))
    ill = np.where(values[:, 3] + values[:, 77] > 3, "yes", "no")
    lines = [",".join([*(f"a{number}" for number in range(ATTRIBUTES)), "ill"])]
    lines += [",".join([*map(str, row), label]) for row, label in zip(values.tolist(), ill.tolist(), strict=True)]
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("parameters", [{}, {"detail": "no"}, {"selection": "published", "rounds": 4}])
def test_a_wide_table_is_published_checked_and_mined(
    table: Path, tmp_path: Path, parameters: dict[str, object]
) -> None:
    made = release(table, schema=SCHEMA, out=tmp_path / "out", ledger=tmp_path / "ledger.db", epsilon="5", **parameters)
    assert verify(made.folder)
    loaded = load_release(made.folder)
    assert query(loaded).estimates
    assert isinstance(loaded, CellRelease) and np.array_equal(loaded.count, made.release.count)  # type: ignore[attr-defined]
    assert 0 <= evaluate(made.folder, test=table)["tree"]["accuracy"] <= 1
    assert NoisyCellsClassifier().fit_release(loaded).classes_.tolist() == ["no", "yes"]


class CountedName(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_the_names_of_a_schema_are_compared_a_few_times_each() -> None:
    both = Tree.flat(["yes", "no"])
    attributes = tuple(
        Attribute(name=CountedName(f"a{number}"), domain=both, outside=Outside.DROP) for number in range(300)
    )
    identifiers = tuple(CountedName(f"i{number}") for number in range(300))
    CountedName.compared = 0
    Schema(attributes=attributes, identifiers=identifiers)
    assert CountedName.compared < 20 * 600  # every name with every other one would be 360,000


def test_a_draft_lists_the_columns_of_a_table_a_few_times() -> None:
    table = pa.table({f"a{number}": ["1", "2"] for number in range(200)})

    class Counted:
        """A table that counts how often its column names, which are a new list each time, are listed."""

        listed = 0
        columns = table.columns

        @property
        def column_names(self) -> list[str]:
            self.listed += 1
            return table.column_names

    counted = Counted()
    assert len(draft(counted).schema.attributes) == 200  # type: ignore[arg-type]
    assert counted.listed < 10
