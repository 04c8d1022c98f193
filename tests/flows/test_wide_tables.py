"""More attributes than numpy has dimensions: every part of a release works on them."""

from pathlib import Path

import numpy as np
import pytest

from scumble import evaluate, load_release, release, verify
from scumble.files.schema_file import parse_schema
from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier
from scumble.model.release import CellRelease

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
    assert isinstance(loaded, CellRelease) and np.array_equal(loaded.count, made.release.count)  # type: ignore[attr-defined]
    assert 0 <= evaluate(made.folder, test=table)["tree"]["accuracy"] <= 1
    assert NoisyCellsClassifier().fit_release(loaded).classes_.tolist() == ["no", "yes"]
