"""Printed values are short, escaped, and say the same in text and in HTML."""

from collections.abc import Iterable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strategies import schemas

import scumble
from scumble import (
    Attribute,
    BlurredRelease,
    CellRelease,
    Grid,
    Outside,
    Plan,
    PureDP,
    RecordRelease,
    Schema,
    Spend,
    Tree,
    Unit,
)
from scumble.flows.joined import Joined
from scumble.model.display import LONGEST_CELL, LONGEST_LINE, MOST_ROWS, Displayed, Listing, Summary, printable
from scumble.privacy.ledger_statement import LedgerStatement

HOSTILE = ("<script>alert(1)</script>", "two\nlines", '"quoted" & <b>', "\x1b[31mred", "\u202eright to left", "x" * 500)
TAGS = {"div", "p", "strong", "br", "table", "thead", "tbody", "tr", "th", "td"}


class Page(HTMLParser):
    """The tags of a page, and its text by tag."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= set(attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.lasttag in ("td", "th"):
            self.rows[-1][-1] += data


def check_displayed(value: Displayed) -> None:
    """What is true of every displayed value."""
    summary, text, html = value.summary, str(value), value._repr_html_()
    assert "\n" not in repr(value)
    assert len(repr(value)) <= LONGEST_LINE + 40
    assert repr(value) == f"<{summary.kind}: {printable(summary.size, LONGEST_LINE)}>"
    lines = text.split("\n")
    assert all(line.isprintable() for line in lines)
    assert len(lines) <= 1 + len(summary.facts) + sum(4 + MOST_ROWS for _ in summary.listings)
    page = Page(html)
    assert page.tags <= TAGS
    assert page.attributes <= {("style", "text-align: left")}
    assert page.text.isprintable()
    shown = [list(row) for listing in summary.listings for row in (listing.columns, *listing.shown)]
    assert page.rows == shown
    for row in shown:
        assert any(all(cell.strip() in line for cell in row) for line in lines), row
    for name, fact in summary.facts:
        line = f"{name}: {printable(fact, 400)}"
        assert line in lines
        assert line in page.text


def listed(value: Displayed) -> list[tuple[str, ...]]:
    return [row for listing in value.summary.listings for row in listing.rows]


def wide(names: Iterable[str]) -> Schema:
    labels = Tree.flat(HOSTILE)
    return Schema(
        attributes=tuple(Attribute(name=name, domain=labels, outside=Outside.CLAMP) for name in names),
        identifiers=("<i>id</i>",),
    )


@given(schemas())
def test_schemas_are_displayed(schema: Schema) -> None:
    check_displayed(schema)
    assert [row[0] for row in listed(schema)] == list(schema.columns)


def test_hostile_names_are_escaped() -> None:
    schema = wide(HOSTILE)
    check_displayed(schema)
    assert "<script" not in schema._repr_html_()
    assert "&lt;script&gt;" in schema._repr_html_()
    assert r"two\nlines" in str(schema)
    assert r"\x1b[31mred" in str(schema)
    assert max(map(len, str(schema).split("\n"))) <= 4 * (LONGEST_CELL + 2)


def test_a_long_schema_is_cut_and_says_so() -> None:
    schema = wide(f"a{number}" for number in range(200))
    assert str(schema).count("\n") < 20
    assert str(schema).endswith("... and 188 more attributes")
    assert "... and 188 more attributes" in schema._repr_html_()
    assert repr(schema) == "<Schema: 200 attributes, no target, unit add-remove>"
    assert len(schema.summary.listings[0].rows) == 200


def test_domains_are_described() -> None:
    age = Grid.regular(low=Decimal(15), high=Decimal(95), step=Decimal(1), missing="?")
    schema = Schema(
        attributes=(
            Attribute(name="age", domain=age, outside=Outside.CLAMP, missing="?"),
            Attribute(name="job", domain=Tree.flat(list("abcdef")), outside=Outside.DROP),
            Attribute(name="ill", domain=Tree.flat(["no"]), outside=Outside.CLAMP),
        ),
        target="ill",
        rows_at_most=5000,
    )
    assert listed(schema) == [
        ("age", "80 intervals in [15,95)", "clamp", "?"),
        ("job", "6 categories: a, b, c, d, ...", "drop", ""),
        ("ill", "1 category: no", "clamp", ""),
    ]
    assert ("rows at most", "5,000") in schema.summary.facts


@given(
    st.lists(st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=20), min_size=1, max_size=30),
    st.text(max_size=90),
)
def test_plans_are_displayed_with_their_total(prices: list[Fraction], purpose: str) -> None:
    spends = tuple(
        Spend(label=f"spend {number}", epsilon=price, purpose=purpose) for number, price in enumerate(prices)
    )
    guarantee = PureDP(epsilon=sum(prices, Fraction(0)), unit=Unit.ADD_REMOVE)
    plan = Plan(guarantee=guarantee, spends=spends, cells_at_most=9, notes=(purpose, "<b>"))
    check_displayed(plan)
    (spent,) = plan.summary.listings
    rows, total = spent.rows, spent.total
    assert [row[1] for row in rows] == [spend.label for spend in spends]
    assert spent.shown[-1] == total
    assert Fraction(total[4]) == guarantee.epsilon == sum(Fraction(row[4]) for row in rows)


SCHEMA = """
scumble: schema/1
target: ill
attributes:
  <b>age</b>: {numeric: {low: 0, high: 8, step: 1}}
  ill: {classes: ["no", "yes & <i>"]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("display")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (folder / "people.csv").write_text("<b>age</b>,ill\n" + "3,no\n5,yes & <i>\n" * 20, encoding="utf-8")
    return folder


def published(folder: Path, name: str, **method: Any) -> scumble.Published:
    return scumble.release(
        folder / "people.csv",
        schema=folder / "schema.yaml",
        out=folder / name,
        ledger=folder / f"{name}.db",
        dataset="<people>",
        **method,
    )


def test_cells_are_displayed_by_shape(folder: Path) -> None:
    made = published(folder, "cells", epsilon="1")
    loaded = scumble.load_cells(folder / "cells")
    assert isinstance(made.release, CellRelease)
    for value in (made, made.release, loaded, *([made.release.fine] if made.release.fine else [])):
        check_displayed(value)
    facts = dict(loaded.summary.facts)
    assert facts["guarantee"] == loaded.plan.guarantee.sentence
    assert facts["count"].startswith(f"{loaded.count.shape[0]} x 2 whole numbers")
    assert f"{int(loaded.count.sum()):,}" in facts["count"]
    assert f"{loaded.variance:.6g}" in facts["measured"]
    assert repr(loaded) == f"<CellRelease: {loaded.size_text} by diffgen, PureDP with epsilon 1>"
    assert set(made.release.summary.facts) < set(made.summary.facts)
    assert "1: 1 of 1 spent, ledger entry" in str(made)
    assert str(folder / "cells") in repr(made) or repr(made).endswith("...>")


def test_records_are_displayed_by_shape(folder: Path) -> None:
    made = published(folder, "records", method=scumble.Histograms(epsilon="2"))
    assert isinstance(made.release, RecordRelease)
    check_displayed(made)
    check_displayed(made.release)
    assert dict(made.release.summary.facts)["columns"] == f"{made.release.records:,} x 2 values"
    assert f"{made.release.records:,} record" in repr(made.release)


def test_perturbed_records_are_displayed_with_their_noise(folder: Path) -> None:
    scumble.perturb(
        folder / "people.csv", schema=folder / "schema.yaml", out=folder / "blurred", epsilon="2", truthful=["ill"]
    )
    loaded = scumble.load_blurred(folder / "blurred")
    assert isinstance(loaded, BlurredRelease)
    check_displayed(loaded)
    treated = dict(loaded.summary.listings[1].rows)  # type: ignore[arg-type]
    assert treated == {"<b>age</b>": "laplace epsilon=2", "ill": "truthful"}


def test_a_joint_release_is_displayed_with_its_party(folder: Path) -> None:
    made = published(folder, "joint", epsilon="1")
    common: dict[str, Any] = {"folder": made.folder, "release": made.release, "seconds": 1.0, "phases": ()}
    transcript = folder / "transcript.json"
    owner = Joined(party="<owner>", receipt=made.receipt, transcript=transcript, **common)
    helper = Joined(party="helper", receipt=None, transcript=transcript, **common)
    for value in (owner, helper):
        check_displayed(value)
        assert set(made.release.summary.facts) < set(value.summary.facts)
    assert "charged: 1: 1 of 1 spent" in str(owner)
    assert "charged" not in dict(helper.summary.facts)


def test_a_ledger_states_its_accounts(folder: Path) -> None:
    published(folder, "stated", epsilon="1")
    with scumble.Ledger.open(folder / "stated.db") as ledger:
        ledger.grant("<people>", Fraction(3), "a <b>reason</b>")
        statement = ledger.statement()
        assert ledger.datasets()["datasets"] == statement.to_json()["datasets"]
    assert isinstance(statement, LedgerStatement)
    check_displayed(statement)
    account = statement["<people>"]
    assert (account.spent, account.ceiling, account.left) == (1, 3, 2)
    assert [row[1] for row in listed(statement)] == ["open", "reserve", "rows", "settle", "grant"]
    assert "fingerprint" not in str(statement.to_json())
    assert "&lt;people&gt; (add-remove): 1 of 3 spent" in statement._repr_html_()
    with pytest.raises(KeyError):
        statement["people"]
    with pytest.raises(FrozenInstanceError):
        statement.accounts = ()  # type: ignore[misc]


def test_a_ledger_of_many_datasets_displays_balances(tmp_path: Path) -> None:
    with scumble.Ledger.open(tmp_path / "ledger.db") as ledger:
        for number in range(40):
            guarantee = PureDP(epsilon=Fraction(1, 3), unit=Unit.ADD_REMOVE)
            ledger.reserve(dataset=f"d{number}", unit=guarantee.unit, guarantee=guarantee, method="m", spends=())
        statement = ledger.statement()
    check_displayed(statement)
    assert str(statement).endswith("... and 28 more datasets")
    assert listed(statement)[0] == ("d0", "add-remove", "1/3", "1/3", "2")


def test_a_value_must_summarize_itself() -> None:
    class Silent(Displayed):
        """It has no summary."""

    with pytest.raises(NotImplementedError):
        repr(Silent())


def test_an_empty_listing_has_its_columns() -> None:
    summary = Summary(kind="Empty", size="nothing", listings=(Listing(columns=("a", "b"), rows=()),))
    assert summary.text == "Empty: nothing\na  b"
    assert Page(summary.html).rows == [["a", "b"]]
