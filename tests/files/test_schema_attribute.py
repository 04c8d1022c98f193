"""The entry of one attribute: its data reads back as the same attribute, and wrong entries are refused with advice."""

from hypothesis import given
from hypothesis import strategies as st
from strategies import attributes

from scumble.files.schema_attribute import AttributePart, attribute_data, attribute_from
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Schema


@given(attribute=attributes("here", unit=Unit.ADD_REMOVE))
def test_the_data_of_an_attribute_reads_back(attribute: Attribute) -> None:
    data = attribute_data(attribute, Schema(attributes=(attribute,)))
    assert attribute_from("here", AttributePart.model_validate(data), Unit.ADD_REMOVE, None) == attribute


@given(attribute=st.sampled_from(Unit).flatmap(lambda unit: attributes("here", unit=unit, classes=2)))
def test_a_target_is_written_as_classes(attribute: Attribute) -> None:
    other = Attribute(name="other", domain=attribute.domain, outside=attribute.outside, missing=attribute.missing)
    assert "classes" in attribute_data(attribute, Schema(attributes=(other, attribute), target="here"))
