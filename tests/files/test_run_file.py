"""Run files: written and read back exactly, and every mistake named."""

from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from scumble.errors import InputError
from scumble.files.run_file import RunFile, beside, parse_run, read_run, write_run

TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=20).filter(lambda text: text.strip())


@given(
    data=TEXTS,
    dataset=st.none() | TEXTS,
    parameters=st.dictionaries(st.sampled_from(["epsilon", "delta", "rounds"]), TEXTS),
    accept=st.lists(st.sampled_from(["interval", "unproven"])),
    table=st.booleans(),
)
def test_every_run_is_read_back(
    data: str, dataset: str | None, parameters: dict[str, str], accept: list[str], table: bool
) -> None:
    run = RunFile(data=data, dataset=dataset, parameters=parameters, accept=accept, table=table)
    assert parse_run(run.text()) == run


def test_a_run_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    write_run(RunFile(data="a.csv"), path)
    path.chmod(0o640)
    write_run(read_run(path).changed(method="histograms", parameters={"epsilon": "1/3"}), path)
    assert read_run(path).parameters == {"epsilon": "1/3"}
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["run.yaml"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("scumble: run/1", "data"),
        ("scumble: run/2\ndata: a.csv", "run/1"),
        ("scumble: run/1\ndata: a.csv\nepsilon: '1'", "epsilon"),
        ("scumble: run/1\ndata: a.csv\ntable: perhaps", "table"),
        ("- a\n- b", "not a mapping"),
    ],
)
def test_a_mistake_is_named(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_run(text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_run(tmp_path / "run.yaml")


def test_paths_are_relative_to_the_run_file() -> None:
    assert beside(Path("there"), "a.csv") == "there/a.csv"
    assert beside(Path("there"), "/data/a.csv") == "/data/a.csv"
