"""A pass over the records finds what the model and the combinations give for each of them."""

import numpy as np
from detail_models import combinations_of_bins, models, usable
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, schemas

from scumble.auditing.laws.queries import engine_of
from scumble.methods.diffgen.detail.combinations import chunks
from scumble.methods.diffgen.detail.records import Records


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_relative_log_odds_and_keys_are_those_of_model_and_combinations(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    model = data.draw(models(schema))
    wanted = data.draw(st.lists(combinations_of_bins(schema), max_size=3))
    blocks = list(engine_of(schema, data.draw(coded_rows(schema, most_rows=9))).blocks())
    records = Records(model, wanted)
    for (codes, classes), (predictors, labels) in zip(records.chunks(blocks), chunks(schema, blocks), strict=True):
        assert (classes == labels).all()
        log_odds = model.log_odds(predictors)
        assert (log_odds[:, 1:] - log_odds[:, :1] == records.log_odds(codes).T).all()
        keys = [combination.keys(predictors) for combination in wanted]
        assert records.keys(codes).tolist() == np.array(keys).reshape(len(wanted), len(labels)).tolist()
