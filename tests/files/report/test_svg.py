"""Bars of the report: well-formed SVG whose label cannot break out of its attribute."""

from xml.etree import ElementTree

from scumble.files.report.svg import box, drawing, line


def test_a_drawing_is_well_formed_whatever_its_label_says() -> None:
    label = '"><script>alert(1)</script> & <b>'
    root = ElementTree.fromstring(drawing(label, box("bar", 0.25, 0.5), line(0, 1, top=2, bottom=3)))
    assert root.get("aria-label") == label
    assert [child.tag for child in root] == ["rect", "line"]


def test_shapes_are_placed_in_shares_of_the_width() -> None:
    root = ElementTree.fromstring(drawing("x", box("bar", 0.25, 1 / 3, top=4, height=6), line(0, 0.5, top=2, bottom=3)))
    rect, stroke = root
    assert rect.attrib == {"class": "bar", "x": "25.000%", "width": "33.333%", "y": "4", "height": "6"}
    assert stroke.attrib == {"x1": "0.000%", "x2": "50.000%", "y1": "2", "y2": "3"}
