"""The page of `scumble risk`: how well people are hidden among others who look like them."""

from collections.abc import Mapping
from typing import Any

from scumble.files.report.svg import box, drawing
from scumble.files.report.text import environment


def risk_page(result: Mapping[str, Any]) -> str:
    """The measures of a table as one self-contained HTML file."""
    most = max((band["records"] for band in result["sizes"]), default=0) or 1
    bands = [
        {
            **band,
            "label": size_label(band),
            "share": band["records"] / max(result["records"], 1),
            "bar": drawing(f"{band['records']} records", box("t0", 0, band["records"] / most, top=2, height=10)),
        }
        for band in result["sizes"]
    ]
    return environment().get_template("risk.html").render(result=result, bands=bands)


def size_label(band: Mapping[str, Any]) -> str:
    """A band of sizes in a few characters.

    >>> size_label({"from": 3, "to": 4}), size_label({"from": 100, "to": None}), size_label({"from": 1, "to": 1})
    ('3 to 4', '100 or more', '1')
    """
    if band["to"] is None:
        return f"{band['from']} or more"
    return str(band["from"]) if band["from"] == band["to"] else f"{band['from']} to {band['to']}"
