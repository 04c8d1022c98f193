"""After the charge, a run ends only for a reason in `Abort`: each is provoked, and the code is searched for others.

The search reads the source of all modules that run after `Ledger.reserve`. A `raise` there must state its reason, or be
in code that runs before the charge, reads a finished folder, or reports a bug of the program.
"""

import ast
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import scumble
from scumble import release
from scumble.engines.memory import MemoryEngine
from scumble.errors import Abort, BudgetError, InputError, Interrupted, ScumbleError
from scumble.files.atomic_folder import Staging
from scumble.files.schema_file import parse_schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.ledger import Ledger

ROOT = Path(scumble.__file__).parent
CODE = (
    *(ROOT / "sources").rglob("*.py"),
    *(ROOT / "engines").rglob("*.py"),
    *(ROOT / "methods").rglob("*.py"),
    *(ROOT / "files" / "kinds").rglob("*.py"),
    *(ROOT / "files" / "report").rglob("*.py"),
    *(ROOT / "files" / f"{name}.py" for name in ("atomic_folder", "counts_file", "csv_tables", "release_folder")),
    *(ROOT / "model" / f"{name}.py" for name in ("counts", "cut", "fine_rows", "raw_value", "release", "rounding")),
    *(ROOT / "model" / f"{name}.py" for name in ("row_limit", "values")),
    *(ROOT / "privacy" / f"{name}.py" for name in ("fingerprint", "holder", "measurements", "noise", "purse", "query")),
)
"""The modules of which parts run after the charge."""

BEFORE = {
    "methods/__init__.py": {"method_named", "method_and_parameters"},
    "methods/barak/method.py": {"_check_number", "_query", "_wanted"},
    "methods/coordinates.py": {"Amounts.of", "Layout.__post_init__", "require_numbers"},
    "methods/diffgen/algorithm_1.py": {"published_spends"},
    "methods/diffgen/cell_bounds.py": {"most_cells", "leaf_cells"},
    "methods/diffgen/method.py": {"DiffGenMethod.plan"},
    "methods/diffgen/parameters.py": {"DiffGen._fit_together"},
    "methods/explore/method.py": {"ExploreMethod.plan"},
    "methods/hay/method.py": {"HayMethod.plan"},
    "methods/mdav/mdav.py": {"check_group_size"},
    "methods/mdav/method.py": {"ExactSums.sensitivity", "MDAVMethod.plan"},
    "methods/mdav/queries.py": {"GroupSums.sensitivity"},
    "methods/method.py": {"_exact_delta", "_exactly", "Params.__init__", "require_target"},
    "methods/microaggregate/mixed/run.py": {"plan_mixed"},
    "methods/microaggregate/parameters.py": {"partition_settings"},
    "methods/mondrian/method.py": {"GeneralizedGroups.sensitivity", "_sensitive"},
    "methods/persons.py": {"plan_release", "refuse_persons", "_epsilon"},
    "methods/privelet/method.py": {"PriveletMethod.plan"},
    "methods/public_cut.py": {"_values", "public_cut", "require_cells"},
    "methods/quasi_identifier.py": {"quasi_attributes"},
    "methods/tds/method.py": {"_ExactAnswer.sensitivity"},
    "privacy/noise.py": {"Keying.named", "KeyedWords.__init__"},
    "files/atomic_folder.py": {"staging"},
}
"""Checks of the schema, the parameters and the folder: public values only, and `plan` runs them before the charge."""
READING_BACK = {
    "files/kinds/__init__.py": {"kind_named"},
    "files/kinds/blurred.py": {"BlurredKind.verify"},
    "files/kinds/cells.py": {"CellsKind.read", "CellsKind.verify"},
    "files/kinds/classifier.py": {"ClassifierKind.read", "ClassifierKind.verify"},
    "files/kinds/document_checks.py": {
        "check_documents",
        "_check_groups",
        "_check_marginals",
        "_check_model",
        "_check_names",
        "_check_value",
    },
    "files/kinds/documents.py": {"read_documents"},
    "files/kinds/generalized.py": {"GeneralizedKind.read", "GeneralizedKind.verify"},
    "files/kinds/kind.py": {"ReleaseKind.table"},
    "files/kinds/records.py": {"RecordsKind.verify"},
    "files/counts_file.py": {"read_counts", "check_table", "_entries"},
    "files/csv_tables.py": {"read_rows"},
    "files/release_folder.py": {
        "file_hash",
        "largest_size",
        "read_manifest",
        "read_release_of",
        "_stated_kind",
        "_read_as",
    },
    "model/release.py": {
        "Release.table_named",
        "Release.cells",
        "ClassifierRelease.table_named",
        "ClassifierRelease.cells",
    },
}
"""Checks of a folder that was published before."""
BUGS = {
    "engines/chunked_counts.py": {"_ChunkedTables.__getitem__"},
    "files/kinds/__init__.py": {"kind_of"},
    "methods/explore/fitting.py": {"_place"},
    "methods/persons.py": {"run_release"},
    "model/release.py": {"Release.size_text"},
    "privacy/fingerprint.py": {"row_sums", "_length"},
    "privacy/holder.py": {"Holder.disclose", "CentralHolder._select_in_parts", "_require"},
    "privacy/measurements.py": {"_root_above", "_within"},
    "privacy/noise.py": {"keyed_bytes"},
    "privacy/purse.py": {"Purse.__init__", "Purse.divide", "Purse._whole", "Purse._take"},
}
"""A method that asks for what it did not plan, or a module that breaks the contract of another."""
MACHINE = {"engines/duckdb.py": {"_translated_failures"}, "files/atomic_folder.py": {"Staging.publish"}}
"""Failures of a library as those of the machine. `reporting_charge` states their reason."""


def raises(path: Path) -> Iterator[tuple[str, str]]:
    """The `raise` statements of a module that state no reason: the function around each, and what it raises."""

    def visit(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            inside = (*around, child.name) if isinstance(child, ast.FunctionDef | ast.ClassDef) else around
            if isinstance(child, ast.Raise) and child.exc is not None and "abort=Abort." not in ast.unparse(child.exc):
                yield ".".join(inside), ast.unparse(child.exc).split("(")[0]
            yield from visit(child, inside if named else around)

    return visit(ast.parse(path.read_text(encoding="utf-8")), ())


def returned_types(path: Path) -> dict[str, str]:
    """What the functions of a module say that they return: some make the error that is raised."""
    functions = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    ]
    return {node.name: ast.unparse(node.returns) for node in functions if node.returns is not None}


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_raise_after_the_charge_states_its_reason(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    known = set().union(*(each.get(name, set()) for each in (BEFORE, READING_BACK, BUGS, MACHINE)))
    found = set(raises(path))
    if name.startswith("sources/"):  # `charged_rows` gives all of them the reason SOURCE
        makers = returned_types(path)
        assert {makers.get(kind, kind) for _, kind in found} <= {"InputError", "ScumbleError"}
    else:
        assert {function for function, _ in found} == known


def test_the_lists_name_modules_that_exist() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in CODE}
    for listed in (BEFORE, READING_BACK, BUGS, MACHINE):
        assert set(listed) <= names


# ------------------------------------------------------------------------------------------------------- each provoked

SCHEMA = """
scumble: schema/1
target: sick
attributes:
  town: {taxonomy: {Any: {Ulm: , Bonn: }}}
  sick: {classes: ["true", "false"]}
"""
ROWS = "town,sick\n" + "Ulm,true\nBonn,false\n" * 20


def ended(folder: Path, *, schema: str = SCHEMA, **options: Any) -> ScumbleError:
    """The error of a run that was charged."""
    path = folder / "people.csv"
    if not path.exists():
        path.write_text(ROWS, encoding="utf-8")
    with pytest.raises(ScumbleError) as caught:
        release(
            path,
            schema=parse_schema(schema),
            ledger=folder / "ledger.db",
            **{"out": folder / "out", "method": "histograms", "epsilon": "1", "dataset": "people", **options},
        )
    assert caught.value.charge is not None and caught.value.charge.entry is not None
    return caught.value


def check(error: ScumbleError, reason: Abort, kind: type[ScumbleError]) -> None:
    assert type(error) is kind
    assert error.charge is not None and error.charge.abort is reason
    assert str(error).endswith(f"Cause: {reason.cause}.")


def failing(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, error: BaseException) -> None:
    def fail(*arguments: Any, **named: Any) -> None:
        raise error

    monkeypatch.setattr(owner, name, fail)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
@pytest.mark.parametrize("where", ["tabulate", "add_up", "open"])
def test_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: BaseException) -> None:
    failing(monkeypatch, MemoryEngine, where, error)
    check(ended(tmp_path), Abort.MACHINE, ScumbleError)


def test_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, MemoryEngine, "tabulate", KeyboardInterrupt())
    check(ended(tmp_path), Abort.INTERRUPT, Interrupted)


def test_a_damaged_file(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"town": ["Ulm", "Bonn"] * 5000, "sick": ["true"] * 10_000}), whole, compression="none")
    damaged = bytearray(whole.read_bytes())
    damaged[4:40] = b"\xff" * 36
    (tmp_path / "damaged.parquet").write_bytes(damaged)
    with pytest.raises(InputError) as caught:
        release(
            tmp_path / "damaged.parquet",
            schema=parse_schema(SCHEMA),
            out=tmp_path / "out",
            ledger=tmp_path / "ledger.db",
            method="histograms",
            epsilon="1",
        )
    check(caught.value, Abort.SOURCE, InputError)


def test_a_wrong_public_number_of_rows(tmp_path: Path) -> None:
    error = ended(tmp_path, schema=SCHEMA.replace("target", "unit: replace\nrows: 41\ntarget"))
    check(error, Abort.ROW_COUNT, InputError)


def test_rows_of_another_account(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    schema = parse_schema(SCHEMA)
    ledger = tmp_path / "ledger.db"
    release(tmp_path / "people.csv", schema=schema, out=tmp_path / "first", ledger=ledger, epsilon="1", dataset="a")
    check(ended(tmp_path, dataset="b"), Abort.FINGERPRINT, BudgetError)


@pytest.mark.parametrize("where", ["record_rows", "settle"])
def test_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    failing(monkeypatch, Ledger, where, ScumbleError("The ledger has been locked by another process."))
    check(ended(tmp_path), Abort.LEDGER, ScumbleError)
    assert (tmp_path / "out").exists() is (where == "settle")


def test_a_folder_that_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish = Staging.publish

    def late(self: Staging) -> None:
        self.target.mkdir()
        publish(self)

    monkeypatch.setattr(Staging, "publish", late)
    check(ended(tmp_path), Abort.OUTPUT, InputError)
    shutil.rmtree(tmp_path / "out")


def test_a_bug_of_a_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, CentralHolder, "measure", BudgetError("All uses are used up."))
    check(ended(tmp_path), Abort.BUG, BudgetError)


def test_a_bug_of_any_other_kind_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    failing(monkeypatch, CentralHolder, "measure", ZeroDivisionError())
    options: Mapping[str, Any] = {"out": tmp_path / "out", "ledger": tmp_path / "ledger.db", "epsilon": "1"}
    with pytest.raises(ZeroDivisionError) as caught:
        release(tmp_path / "people.csv", schema=parse_schema(SCHEMA), method="histograms", **options)
    assert caught.value.__notes__[0].endswith(f"Cause: {Abort.BUG.cause}.")


def test_every_reason_says_what_it_depends_on() -> None:
    assert len({reason.cause for reason in Abort}) == len({reason.depends_on for reason in Abort}) == len(Abort)


def test_the_proof_lists_every_reason() -> None:
    proof = (ROOT / "sources" / "PROOF.md").read_text(encoding="utf-8")
    for reason in Abort:
        assert f"`{reason.name}`" in proof
