"""Edits of schema files: what changes, what stays, and what must be confirmed again."""

from pathlib import Path

import pytest
from command_line import SCHEMA, scumble

from scumble.cli.schema_edit import edit, roles
from scumble.errors import InputError
from scumble.files.schema_file import read_schema
from scumble.flows.schema_edit import (
    column_comments,
    edit_domain,
    import_hierarchy,
    set_domain,
    set_domain_text,
    set_roles,
    state_reason,
)
from scumble.flows.schema_roles import ColumnRoles
from scumble.model.guarantee import Unit
from scumble.model.taxonomy import Tree
from scumble.model.taxonomy_edits import add_node

COMMENTED = """\
# A heading
# of two lines.
scumble: schema/1
target: income
attributes:
  # Guess: whole years.
  age: {numeric: {low: 0, high: 100, step: 10}, public because: "a calendar"}
  job: {taxonomy: {Any: {White: {Engineer: , Lawyer: }, Blue: {Dancer: , Writer: }}}, missing: "?"}
  # Left out: a key.
  'name: full': {identifier: true}
  income: {classes: ["no", "yes"]}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "schema.yaml").write_text(COMMENTED, encoding="utf-8")
    return tmp_path / "schema.yaml"


def test_a_changed_domain_is_unconfirmed_and_the_rest_stays(path: Path) -> None:
    before = read_schema(path)
    changed = edit_domain(path, "job", lambda tree: add_node(tree, "Painter", "Blue"))
    assert changed == read_schema(path)
    assert changed["job"].unconfirmed
    assert "Painter" in changed["job"].domain.labels
    assert [changed[name] for name in ("age", "income")] == [before[name] for name in ("age", "income")]
    text = path.read_text("utf-8")
    assert text.startswith("# A heading\n# of two lines.\n")
    assert column_comments(text)["age"] == "Guess: whole years."


def test_a_reason_is_kept_but_confirmed_again(path: Path) -> None:
    changed = set_domain(path, "age", {"numeric": {"low": "0", "high": "120", "step": "5"}})
    assert changed["age"].unconfirmed
    assert changed["age"].public_because == "a calendar"
    confirmed = state_reason(path, "age", "nobody is older")
    assert not confirmed["age"].unconfirmed
    assert confirmed["age"].public_because == "nobody is older"
    assert state_reason(path, "age", "still")["age"].public_because == "still"


def test_an_identifier_becomes_an_attribute_and_back(path: Path) -> None:
    changed = set_domain_text(path, "name: full", "ordered: [a, b, c]")
    assert changed.identifiers == ()
    assert changed["name: full"].domain.labels == ("a", "b", "c")
    again = set_roles(path, ColumnRoles(target="income", identifiers=["name: full"]))
    assert again.identifiers == ("name: full",)


def test_roles(path: Path) -> None:
    stated = ColumnRoles(target="job", identifiers=["income"], person="id", rows_each_at_most=3, rows_at_most=1000)
    changed = set_roles(path, stated)
    assert (changed.target, changed.identifiers, changed.person) == ("job", ("income",), "id")
    assert (changed.rows_each_at_most, changed.rows_at_most) == (3, 1000)
    with pytest.raises(InputError, match="has no domain"):
        set_roles(path, ColumnRoles(target="income"))


def test_the_unit_of_privacy(path: Path) -> None:
    changed = set_roles(path, ColumnRoles(target="income", unit=Unit.REPLACE, rows=120))
    assert (changed.unit, changed.rows, changed.target) == (Unit.REPLACE, 120, "income")
    assert set_roles(path, ColumnRoles(target="income")) == changed, "a unit that is not stated stays"
    with pytest.raises(InputError, match="number of rows is public"):
        set_roles(path, ColumnRoles(unit=Unit.REPLACE))
    with pytest.raises(InputError, match="number of rows is private"):
        ColumnRoles(unit=Unit.ADD_REMOVE, rows=120)
    back = set_roles(path, ColumnRoles(target="income", unit=Unit.ADD_REMOVE))
    assert (back.unit, back.rows) == (Unit.ADD_REMOVE, None)


def test_a_hierarchy_of_arx_is_imported(path: Path) -> None:
    (path.parent / "job.csv").write_text("Nurse;Care;Any\r\nDoctor;Care;Any\r\nPoet;Poet;Any\r\n", encoding="utf-8")
    changed = import_hierarchy(path, "job", "job.csv")
    assert changed["job"].domain == Tree.nested({"Any": {"Care": {"Nurse": None, "Doctor": None}, "Poet": None}})
    assert changed["job"].missing is None, "the new taxonomy has no leaf for missing values"
    with pytest.raises(InputError, match="leads out"):
        import_hierarchy(path, "job", "../job.csv")


@pytest.mark.parametrize(
    ("attribute", "entry", "words"),
    [
        ("age", {"numeric": {"low": "0"}}, "low, high and step"),
        ("age", {"identifier": True}, "identifier has no domain"),
        ("age", {"numeric": {"low": "0", "high": "1", "step": "x"}}, "step"),
        ("income", {"numeric": {"low": "0", "high": "2", "step": "1"}}, "is numeric"),
    ],
)
def test_a_wrong_domain_changes_nothing(path: Path, attribute: str, entry: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        set_domain(path, attribute, entry)
    assert path.read_text("utf-8") == COMMENTED


def test_a_grid_has_no_nodes_to_edit(path: Path) -> None:
    with pytest.raises(InputError, match="no taxonomy"):
        edit_domain(path, "age", lambda tree: tree)


def test_the_command_line_edits(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    for words in (
        ["--add", "Painter", "Blue"],
        ["--rename", "Blue", "Arts"],
        ["--move", "Writer", "White"],
        ["--group", "Law", "--values", "Lawyer", "--values", "Writer"],
        ["--remove", "Law"],
    ):
        assert scumble("schema", "edit", path, "job", *words).code == 0, words
    assert read_schema(path)["job"].domain == Tree.nested(
        {
            "Any": {
                "White": {"Engineer": None, "Lawyer": None, "Writer": None},
                "Arts": {"Dancer": None, "Painter": None},
            }
        }
    )
    assert [command.__name__ for command in (edit, roles)] == ["edit", "roles"]
    ended = scumble("schema", "edit", path, "job", "--because", "a list of the ministry", "--json")
    assert ended.json["unconfirmed"] is False
    assert scumble("schema", "edit", path, "job", "--remove", "Arts", "--because", "x").code == InputError.exit_code
    assert scumble("schema", "roles", path, "--target", "job", "--identifier", "age", "--json").json["target"] == "job"
