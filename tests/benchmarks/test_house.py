"""The structure figures on planted sources: each rule finds what it says, and nothing that only looks like it."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import house

    return house


def places(
    house: ModuleType, rule: str, modules: Mapping[str, str], tests: Mapping[str, str] | None = None
) -> list[str]:
    figure = getattr(house, rule)(house.Source(modules=modules, tests=tests or {}))
    assert figure.value == len(figure.places)
    return list(figure.places)


@pytest.mark.parametrize(
    "source",
    [
        "def f(domain, number):\n    return np.searchsorted(domain.edge_floats, number)",
        "class A:\n    def f(self, domain, text):\n        return domain.codes[text]",
        "def f(domain, label):\n    return domain.codes.get(label, 0)",
        "def f(column, labels):\n    def inner():\n        return pc.index_in(column, labels)\n    return inner()",
    ],
)
def test_a_function_that_finds_codes_itself_is_a_value_codec(house: ModuleType, source: str) -> None:
    assert len(places(house, "value_codecs", {"files/kinds/cells.py": source})) == 1
    assert places(house, "value_codecs", {"model/values.py": source, "engines/coding.py": source}) == []


def test_arrays_called_codes_and_other_searches_are_no_value_codec(house: ModuleType) -> None:
    source = "def f(sample, rows, ends):\n    return sample.codes[rows], np.searchsorted(ends, rows)"
    assert places(house, "value_codecs", {"mining/sample.py": source}) == []


def test_a_schema_codec_writes_and_reads_a_taxonomy(house: ModuleType) -> None:
    both = "def write(tree):\n    return tree.to_nested()\ndef read(data):\n    return Tree.nested(data)"
    reader = "def read(data):\n    return Tree.nested(data)"
    home = "class Tree:\n    def to_nested(self):\n        return self.nested(self.to_nested())"
    modules = {"files/schema_file.py": both, "files/hierarchy_file.py": reader, "model/taxonomy.py": home}
    assert places(house, "schema_codecs", modules) == ["files/schema_file.py"]


def test_a_holder_surface_is_a_class_with_every_method(house: ModuleType) -> None:
    names = ("choose", "choose_apart", "measure", "disclose", "divide")
    full = "class Full:\n" + "".join(f"    def {name}(self): ...\n" for name in names)
    part = "class Part(Full):\n    def measure(self): ...\n"
    assert places(house, "holder_surfaces", {"privacy/holder.py": full + part}) == ["privacy/holder.py:1 Full"]


def test_questions_about_the_kind_of_a_release(house: ModuleType) -> None:
    asks = (
        "if isinstance(release, CellRelease | RecordRelease): pass\n"
        "match release:\n    case BlurredRelease(): pass\n    case Grid(): pass\n"
        "isinstance(release, Release)\n"
    )
    home = "class CellRelease: ...\nisinstance(x, CellRelease)"
    modules = {"flows/evaluate.py": asks, "model/release.py": home, "files/kinds/cells.py": asks}
    found = places(house, "release_kinds", modules)
    assert found == [
        "flows/evaluate.py:1 isinstance(release, CellRelease | RecordRelease)",
        "flows/evaluate.py:3 BlurredRelease()",
    ]


def test_classes_and_aliases_collide_constants_and_private_names_do_not(house: ModuleType) -> None:
    first = "Floats = npt.NDArray\nclass Rows: ...\nLIMIT = 3\nclass _Own: ...\ndef release(): ..."
    second = "Floats = npt.NDArray\nRows: TypeAlias = tuple\nLIMIT = 4\nclass _Own: ...\ndef release(): ..."
    third = "from scumble.first import Floats\nclass Outer:\n    class Rows: ..."
    modules = {"first.py": first, "second.py": second, "third.py": third}
    assert places(house, "name_collisions", modules) == ["Floats: first.py, second.py", "Rows: first.py, second.py"]


def test_a_module_is_tested_where_a_test_imports_it_by_name(house: ModuleType) -> None:
    modules = {
        "__init__.py": "from scumble.flows.release import release",
        "__main__.py": "main()",
        "flows/__init__.py": '"""Verbs."""',
        "flows/release.py": "def release(): ...",
        "flows/mine.py": "def mine(): ...",
        "flows/join.py": "def join(): ...",
        "sources/__init__.py": "def open_source(): ...",
    }
    tests = {"test_a.py": "import scumble\nfrom scumble.flows import mine\nfrom scumble.flows.join import join"}
    assert places(house, "untested_modules", modules, tests) == ["scumble.flows.release", "scumble.sources"]


def test_identifiers_of_the_dialect(house: ModuleType) -> None:
    source = (
        'def tell(told, *, asked_for=1):\n    """Told in prose."""\n    text = "told"\n    return told.heard(tell=toll)'
    )
    found = places(house, "dialect", {"a.py": source})
    assert sorted(line.split()[1] for line in found) == ["asked_for", "heard", "tell", "tell", "told", "told"]


def test_a_release_is_followed_in_its_own_tree_and_planned_once(house: ModuleType) -> None:
    figures = house.release_path(house.ROOT / "src" / "scumble")
    loaded, ran = (figures[f"modules {what} a release"] for what in ("loaded by", "that run in"))
    assert "scumble.flows.release" in loaded.places
    assert "flows/release.py" in ran.places
    assert 10 < ran.value < loaded.value
    assert figures["plans computed in a release"].value == 1


def test_the_table_has_every_figure_in_every_column(house: ModuleType) -> None:
    figures = {what: house.Figure(value=place) for place, what in enumerate(house.RULES)}
    lines = house.table({"before": figures, "after": figures}).splitlines()
    assert lines[0] == "| figure | before | after |"
    assert lines[2] == "| modules loaded by a release | 0 | 0 |"
    assert len(lines) == 2 + len(house.RULES)
    assert set(house.structure(house.Source(modules={"a.py": ""}, tests={}))) < set(house.RULES)
