"""Hierarchies in ARX's format: written and read back, also ragged trees and chains; contradictory lines are refused."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from strategies import trees

from scumble.errors import InputError
from scumble.files.hierarchy_file import read_hierarchy, write_hierarchy
from scumble.model.taxonomy import Tree

WORK = Tree.nested({"Any": {"Paid": {"Gov": {"Federal": None, "Local": None}, "Private": None}, "Unpaid": None}})


def read(folder: Path, text: str) -> Tree:
    path = folder / "tree.csv"
    path.write_bytes(text.encode("utf-8"))
    return read_hierarchy(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hierarchies")


@given(tree=trees())
@settings(max_examples=150)
def test_a_tree_comes_back_from_its_file(folder: Path, tree: Tree) -> None:
    assume(not tree.labels[0].startswith("\ufeff"))  # at the start of a file it is a mark, not a character
    path = folder / "random.csv"
    write_hierarchy(tree, path)
    assert read_hierarchy(path) == tree
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter=";"))
    assert [line[0] for line in lines] == list(tree.labels)
    assert {line[-1] for line in lines} == {tree.root.label}
    assert len({len(line) for line in lines}) == 1


def test_a_leaf_higher_up_repeats_its_name(tmp_path: Path) -> None:
    write_hierarchy(WORK, tmp_path / "work.csv")
    assert (tmp_path / "work.csv").read_text(encoding="utf-8").split() == [
        "Federal;Gov;Paid;Any",
        "Local;Gov;Paid;Any",
        "Private;Private;Paid;Any",
        "Unpaid;Unpaid;Unpaid;Any",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Federal;Gov;Paid;Any\nLocal;Gov;Paid;Any\nPrivate;Paid;Any\nUnpaid;Any\n",
        "Federal;Gov;Paid;Any\r\nLocal;Gov;Paid;Any\r\nPrivate;Paid;Paid;Any\r\nUnpaid;Any;Any;Any",
        "\ufeffFederal,Gov,Paid,Any\nLocal,Gov,Paid,Any\n\nPrivate,Paid,Any\nUnpaid,Any\n",
        '"Federal";"Gov";"Paid";"Any"\n"Local";"Gov";"Paid";"Any"\n"Private";"Paid";"Any"\n"Unpaid";"Any"\n',
    ],
    ids=["ragged lines", "repeated upwards", "commas, a mark and an empty line", "quotes"],
)
def test_other_ways_to_write_the_same_tree(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == WORK


def test_delimiters_inside_quotes_do_not_count(tmp_path: Path) -> None:
    assert read(tmp_path, '"a;b",Any\nc,Any\n').labels == ("a;b", "c")
    assert read(tmp_path, '"a,b";Any\nc;Any\n').labels == ("a,b", "c")
    assert read(tmp_path, '"two\nlines";Any\nc;Any\n').labels == ("two\nlines", "c")


def test_leaves_need_not_stand_together(tmp_path: Path) -> None:
    tree = read(tmp_path, "a;p;Any\nc;q;Any\nb;p;Any\n")
    assert tree == Tree.nested({"Any": {"p": {"a": None, "b": None}, "q": {"c": None}}})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a;Any\nb;Other\n", "one root, here: 'Any', 'Other'"),
        ("a;p;Any\na;q;Any\n", "line 2: 'a' is below 'q' here and below 'p' elsewhere"),
        ("a;p;Any\nb;p;q;Any\n", "line 2: 'p' is below 'q' here and below 'Any' elsewhere"),
        ("a;Any\na;Any\n", "line 2: the leaf 'a' already has a line"),
        ("a;p;Any\np;Any\n", "line 2: 'p' is a leaf here and has children in an earlier line"),
        ("p;Any\na;p;Any\n", "line 2: 'p' has children here and is a leaf in an earlier line"),
        ("a;b;a\n", "line 1: 'a' is below 'b' here and the root elsewhere"),
        ("Any\na,Any\n", "line 2: 'Any' has children here and is a leaf in an earlier line"),
        (f"{'a' * 200_000};Any\n", "field larger than field limit"),
    ],
)
def test_lines_that_make_no_tree_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as refusal:
        read(tmp_path, text)
    assert str(tmp_path / "tree.csv") in str(refusal.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9;Any\n")
    (tmp_path / "folder.csv").mkdir()
    for name in ("absent.csv", "latin.csv", "folder.csv"):
        with pytest.raises(InputError, match=name):
            read_hierarchy(tmp_path / name)


def test_many_leaves_are_read_quickly(tmp_path: Path) -> None:
    tree = read(tmp_path, "".join(f"{leaf};{leaf // 100 + 10**6};Any\n" for leaf in range(50_000)))
    assert tree.size == 50_000
