"""A schema with proposals for what `check_rows` found: missing labels, wider ranges, further categories.

The proposals are computed from private rows. Therefore every changed domain is marked `unconfirmed`, its reason is
removed, and a comment says what was changed.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from scumble.files.schema_draft import Draft
from scumble.flows.check_rows import RowsCheck
from scumble.flows.column_guesses import MISSING_LABELS, covering_grid
from scumble.flows.notation_hints import notation_hint
from scumble.flows.row_advice import AttributeRows, FlawedValue, means_missing, similar_label
from scumble.flows.text_shapes import number_notation
from scumble.model.grid import Grid
from scumble.model.notation import PLAIN
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import Flaw

PROPOSAL_HEADING = """\
PRIVATE: proposals derived from the rows, which may reveal them. Do not publish this file.
Every changed domain is marked `unconfirmed`. Keep only what is public knowledge whoever is in the table, then
`scumble schema confirm FILE` replaces `unconfirmed: true` by the reason why the domain is public."""
MOST_CELLS = 1_000
"""A range is widened by cells of the same width up to this number of cells; beyond it, cells become wider."""


def propose(schema: Schema, checked: RowsCheck) -> Draft | None:
    """The schema with proposals, and a comment on each. None if there is nothing to propose."""
    attributes, comments = [], {}
    for attribute, found in zip(schema.attributes, checked.attributes, strict=True):
        changed, notes = _proposal(attribute, found)
        if notes:
            comments[attribute.name] = "Proposal: " + " ".join(notes)
            changed = replace(changed, unconfirmed=True, public_because=None)
        attributes.append(changed)
    if not comments:
        return None
    return Draft(schema=replace(schema, attributes=tuple(attributes)), comments=comments)


def proposal_heading(checked: RowsCheck) -> str:
    """The heading of a proposal, with the columns that the schema does not name."""
    unused = f"\nColumns that the schema does not name: {', '.join(checked.unused_columns)}."
    return PROPOSAL_HEADING + (unused if checked.unused_columns else "")


def _proposal(attribute: Attribute, found: AttributeRows) -> tuple[Attribute, list[str]]:
    values = [value for value in (*found.commonest, *found.further) if value.nameable]
    if isinstance(attribute.domain, Grid):
        return _numbers(attribute, attribute.domain, found, values)
    if attribute.domain.origin is not None:
        return attribute, []  # a published schema: its taxonomy was cut, and is not the owner's to extend here
    if attribute.notation is not None or isinstance(attribute.domain, Ordered):
        return _notation(attribute, attribute.domain, found)
    return _categories(attribute, attribute.domain, found, values)


def _numbers(
    attribute: Attribute, grid: Grid, found: AttributeRows, values: list[FlawedValue]
) -> tuple[Attribute, list[str]]:
    notes = []
    label = grid.missing
    if label is None and not grid.joined:
        likely = next((value.text for value in values if means_missing(value)), None)
        if likely is not None:
            label = likely.strip()
            notes.append(f"{label!r} seems to stand for missing values.")
        elif found.missing:
            label = MISSING_LABELS[0]
            notes.append(f"empty cells get a value of their own, {label!r}.")
    wider = _widened(grid, found)
    if wider is not grid:
        notes.append(f"the range was [{grid.edges[0]}, {grid.edges[-1]}), and rows lie outside.")
    domain = Grid(edges=wider.edges, step=wider.step, missing=label, joined=grid.joined)
    unread = [value.text for value in values if value.flaw is Flaw.UNREADABLE and not means_missing(value)]
    notation = number_notation(unread) if unread and attribute.numbers == PLAIN else None
    if notation is not None:
        notes.append("numbers seem to be written in another notation. Check that all are, and check the range again.")
    return replace(attribute, domain=domain, missing=label, notation=notation or attribute.notation), notes


def _notation(attribute: Attribute, tree: Tree, found: AttributeRows) -> tuple[Attribute, list[str]]:
    """Another notation of dates or booleans, if the values seem to have one, and a label of missing values."""
    changed, notes = _missing_label(attribute, tree, found)
    hint = notation_hint(attribute.notation, found.hint_texts)
    if hint is None:
        return changed, notes
    note = f"values seem to be written in another notation, hence `{hint.entry}`. Check that all are. {hint.doubt}"
    return replace(changed, notation=hint.notation), [*notes, note.rstrip()]


def _missing_label(attribute: Attribute, tree: Tree, found: AttributeRows) -> tuple[Attribute, list[str]]:
    """Only a label of missing values: other values of dates, codes, booleans and ordered lists follow from rules."""
    taken = {node.label for node in tree.root.walk()}
    label = next((each for each in MISSING_LABELS if each not in taken), None)
    extensible = isinstance(tree, Ordered) or bool(tree.root.children)
    if attribute.missing is not None or not found.missing or label is None or not extensible:
        return attribute, []
    further = Ordered.of(tree.labels, missing=label) if isinstance(tree, Ordered) else tree.with_leaf(label)
    return replace(attribute, domain=further, missing=label), [f"{label!r} is the value of empty cells."]


def _widened(grid: Grid, found: AttributeRows) -> Grid:
    """The grid with further cells, so that it covers all numbers that were found."""
    if found.lowest is None or found.highest is None:
        return grid
    first, last = grid.edge_floats[0].item(), grid.edge_floats[-1].item()
    low, high = min(found.lowest, first), max(found.highest, last)
    around = covering_grid(low, high, whole=grid.step is not None and grid.step % 1 == 0)
    if grid.step is None:
        below, above = around.edges[:1] if low < first else (), around.edges[-1:] if found.highest >= last else ()
        return Grid(edges=(*below, *grid.edges, *above))
    step = Fraction(grid.step)
    before = math.ceil((Fraction(first) - Fraction(low)) / step)
    after = math.floor((Fraction(high) - Fraction(last)) / step) + 1 if found.highest >= last else 0
    if grid.cells + before + after > max(MOST_CELLS, 2 * grid.cells):
        return around
    return Grid.regular(
        low=grid.edges[0] - (before + 1 if before else 0) * grid.step,  # one more: edges are rounded to doubles
        high=grid.edges[-1] + (after + 1 if after else 0) * grid.step,
        step=grid.step,
    )


def _categories(
    attribute: Attribute, tree: Tree, found: AttributeRows, values: list[FlawedValue]
) -> tuple[Attribute, list[str]]:
    notes = []
    flat = tree == Tree.flat(tree.labels)  # whose root is then renamed if a value has its name
    taken = {*tree.labels} if flat else {node.label for node in tree.root.walk()}
    unknown = [value for value in values if value.flaw is Flaw.UNKNOWN and value.text not in taken]
    label, added = attribute.missing, []
    if label is None:
        likely = next((value.text for value in unknown if means_missing(value)), None)
        spare = next((each for each in MISSING_LABELS if each not in taken), None)
        label = likely if likely is not None else spare if found.missing else None
        if label is not None:
            added.append(label)
            what = "seems to stand for missing values" if likely is not None else "is the value of empty cells"
            notes.append(f"{label!r} {what}.")
    further = [value for value in unknown if value.text != label]
    added += [value.text for value in further]
    notes += _notes_on_values(tree, further)
    if not added or not tree.root.children:
        return attribute, []
    return replace(attribute, domain=tree.with_leaves(added), missing=label), notes


def _notes_on_values(tree: Tree, values: list[FlawedValue]) -> Iterator[str]:
    if values:
        yield f"{len(values)} further values of the rows, below the root."
    spelled = [(value.text, similar_label(tree, value.text)) for value in values]
    alike = [f"{text!r} for {label!r}" for text, label in spelled if label is not None]
    if alike:
        yield f"Perhaps other spellings: {', '.join(alike)}."
