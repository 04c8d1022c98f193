"""Evaluates a release: compares it with raw rows, and trains classifiers on it that are tested on raw rows.

This is for the data owner. The results depend on raw rows and are not covered by the guarantee of the release.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble.engines.number_columns import read_numbers
from scumble.errors import InputError
from scumble.files.csv_tables import arrow_table
from scumble.files.evaluation_files import refuse_release_folder, write_evaluation
from scumble.flows.load import load_release
from scumble.flows.progress import Progress
from scumble.flows.public_rows import code_rows, public_schema
from scumble.model.grid import Grid
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.sources import ArrowSource, Dialect, Source, check_columns, check_dialect, open_source

if TYPE_CHECKING:
    from scumble.mining.benchmark.sample import Sample

NOTICE = "Computed from raw rows without noise, for the data owner only. Do not publish."


def evaluate(
    folder: str | Path,
    *,
    test: Any = None,
    train: Any = None,
    table: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
    classifiers: Sequence[str] = ("tree", "boosting"),
    targets: Sequence[str] = (),
    by: str | None = None,
    fidelity: bool = False,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Compares a release with raw rows: classifiers trained on it are scored on `test`, and its margins are compared.

    `test` has raw rows to test classifiers on, `train` the raw rows behind the release; give at least one of them.
    `table` is `table` or `fine`; the default is the recommended table. `classifiers` are some of `tree` (a pruned CART
    tree), `boosting` and `c45`. Returns plain data:

    - For each classifier its accuracy, AUC, balanced accuracy (`balanced_accuracy`, and `balanced_accuracy_weighted`
      for class-weighted predictions) and the `recall` of each class; under the key `raw`, the same for classifiers
      trained on `train`. `commonest` has the same scores for always predicting the commonest class, of `train` if it
      is given, else of the release; `majority` is its accuracy. All this needs a class and `test`.
    - `test_rows`: how many test rows were read and are in the domain: the others are not scored.
    - `own`: the scores of a published classifier, if the release is one and no table; the other keys are then `raw`
      (with `train`), `commonest`, `majority` and `test_rows`.
    - `fidelity`: the distances of the table's margins of one, two and three attributes from those of `train`, or of
      `test` without it. With `fidelity=True`, also the distribution of each attribute, the associations of all pairs
      and the errors of random queries.
    - `targets`: for each attribute named in `targets`, the scores of predicting it. `age>40` predicts whether a number
      is above a threshold, `age` whether it is above its median.
    - `by`: distances and accuracies within each value of the attribute `by`.

    `progress` is called with the name of the step, the work done and all work (None: unknown).

    `out` is a folder for the same results as evaluation.json and, with everything that `fidelity=True` adds, as
    evaluation.html; it must not be in a release folder. Raises `InputError` if a table lacks a column of the release.
    The figures depend on private rows and are not covered by the guarantee of the release.
    """
    # scikit-learn takes a second to import, and no other verb needs it.
    from scumble.flows.class_scores import ClassScores, class_scores, raw_scores, scores_by_target
    from scumble.flows.fidelity import ComparedTables, details, distances, subgroups

    made = load_release(folder)
    if made.classifier is not None:
        wishes = {"--table": table, "--target": targets, "--by": by, "--fidelity": fidelity, "--out": out}
        dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
        asked = [name for name in wishes if wishes[name]]
        return _evaluate_classifier(made, test, train, dialect, classifiers, asked, progress)
    if out is not None:
        refuse_release_folder(Path(out), Path(folder))
    if test is None and train is None:
        raise InputError("There are no raw rows to compare with. Give --test, --train or both.")
    if targets and test is None:
        raise InputError("Predicting an attribute needs raw rows to test on. Give --test.")
    chosen = made.table_named(table)
    published, schema, public = training_sample(made, chosen), made.tables[chosen], public_schema(made)
    dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
    tests = None if test is None else open_source(test, dialect=dialect)
    source = None if train is None else open_source(train, dialect=dialect)
    check_dialect(dialect, *(each for each in (tests, source) if each is not None))
    tested = None if tests is None else code_rows(tests, public)
    trained = None if source is None else code_rows(source, public)
    scored, raw = ClassScores(), ClassScores()
    if tested is not None and schema.target is not None:
        scored = class_scores(published, schema, tested, trained, classifiers, progress)
        if source is not None:
            finest = finest_schema(made.schema, source)
            raw = raw_scores(source, open_source(test, dialect=dialect), finest, classifiers, progress)
    true = tested if trained is None else trained
    assert true is not None
    if progress is not None:
        progress("comparing margins", 0, None)
    compared = ComparedTables(sample=published, published=schema, true=true)
    result = {"notice": NOTICE, "table": chosen, **scored.scores}
    if tested is not None:
        result["test_rows"] = {"read": tested.read, "in_domain": tested.rows}
    if raw.scores:
        result["raw"] = raw.scores
    result["fidelity"] = {
        "of": "test" if trained is None else "train",
        "records": true.rows,
        "class": public.target,
        **distances(compared.released, compared.binned, public),
        **(details(compared, tested) if fidelity or out is not None else {}),
    }
    if targets and tested is not None:
        result["targets"] = scores_by_target(targets, published, schema, tested, trained, classifiers)
    if by is not None:
        result["by"] = subgroups(compared, by, tested, scored.correct, raw.correct)
    if out is not None:
        write_evaluation(result, made, Path(out))
    return result


def _evaluate_classifier(
    made: Release,
    test: Any,
    train: Any,
    dialect: Dialect,
    classifiers: Sequence[str],
    asked: Sequence[str],
    progress: Progress | None,
) -> dict[str, Any]:
    from scumble.flows.class_scores import raw_scores
    from scumble.flows.evaluate_classifier import classifier_scores, refuse_tables

    refuse_tables(made, test=test, asked=asked)
    tests = open_source(test, dialect=dialect)
    source = None if train is None else open_source(train, dialect=dialect)
    check_dialect(dialect, *(each for each in (tests, source) if each is not None))
    tested = code_rows(tests, made.schema)
    trained = None if source is None else code_rows(source, made.schema)
    assert made.classifier is not None
    result = {"notice": NOTICE, "table": None, **classifier_scores(made, made.classifier, tested, trained)}
    if source is not None:
        finest = finest_schema(made.schema, source)
        tests = open_source(test, dialect=dialect)
        result["raw"] = raw_scores(source, tests, finest, classifiers, progress).scores
    return result


def training_sample(release: Release, table: str | None = None) -> "Sample":
    """The training data of a miner, by default the recommended table, coded by its schema: cells weighted by their
    counts, the fine rows, or published records."""
    from scumble.flows.class_scores import sample_of
    from scumble.mining.benchmark.sample import sample_of_counts

    chosen = release.table_named(table)
    rows = release.rows_of(chosen)
    if rows is None:
        return sample_of_counts(release.schema, release.cells.count)
    schema = release.tables[chosen].of_published_rows
    return sample_of(code_rows(ArrowSource(table=arrow_table(rows)), schema), schema)


def finest_schema(published: Schema, source: Source) -> Schema:
    """The finest schema of raw rows: the leaves of the public trees, and one cell for every number that occurs.

    It depends on private rows, so it is used only for the owner's comparison and never published.
    """
    check_columns(source, published.columns)
    attributes = []
    batches = list(source.batches(published.columns))
    for attribute in published.attributes:
        domain = attribute.domain
        if isinstance(domain, Tree):
            domain = domain.finest
        else:
            columns = [
                read_numbers(batch.column(attribute.source_column), numbers=attribute.numbers) for batch in batches
            ]
            values = np.unique(np.concatenate(columns or [np.zeros(0)]))
            values = values[np.isfinite(values)]
            edges = [Decimal(repr(float(value))) for value in values] or [Decimal(0)]
            beyond = edges[-1] + max(abs(edges[-1]), Decimal(1))  # far enough to stay above after rounding
            domain = Grid(edges=(*edges, beyond), missing=domain.missing)
        attributes.append(replace(attribute, domain=domain))
    return replace(published, attributes=tuple(attributes))
