"""The two pages of a release folder: report.html for the data owner and the receiver, README.md for the miner.

Their content comes from the release, all of which is public or paid for, and from the ledger's receipt. The other
modules of this package compute numbers and bars; the templates hold the sentences. Each kind of release chooses its
templates (`scumble.files.kinds`).
"""

from collections.abc import Collection, Mapping

from scumble.files.kinds import kind_of
from scumble.files.report.attributes import described_attributes
from scumble.files.report.guarantee import promise
from scumble.files.report.text import environment
from scumble.model.release import Release


def report_page(release: Release, receipt: Mapping[str, str]) -> str:
    """The report as one self-contained HTML file."""
    kind = kind_of(release)
    return (
        environment()
        .get_template(kind.report_template)
        .render(
            release=release,
            receipt=receipt,
            attributes=described_attributes(release.schema),
            **promise(release, receipt),
            **kind.report_context(release),
        )
    )


def miners_page(release: Release, recommended: str, described: Collection[str] = ()) -> str:
    """The README for the receiver who mines the table. Its code runs in the folder without changes.

    `described` names the files for other programs that the folder also contains.
    """
    kind = kind_of(release)
    template = environment().get_template(kind.readme_template)
    return template.render(release=release, described=described, **kind.readme_context(release, recommended))
