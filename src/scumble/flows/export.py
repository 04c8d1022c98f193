"""Export: a table of a published folder in the format of another program. It reads the folder and nothing else."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scumble.errors import InputError, ScumbleError
from scumble.files.exports.formats import FORMATS, format_named
from scumble.files.exports.tables import export_table
from scumble.files.release_folder import read_manifest, read_release
from scumble.model.plan import guarantee_text
from scumble.model.release import Release


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A file that `export` wrote."""

    path: Path
    table: str
    """The file of the release that it was made from."""
    format: str
    columns: tuple[str, ...]
    """The columns as the release names them, in order."""
    renamed: Mapping[str, str]
    """The names that the format did not allow, each with the name in the file."""


def export(
    folder: str | Path,
    out: str | Path,
    *,
    format: str | None = None,
    table: str | None = None,
    bounds: bool = False,
) -> Exported:
    """Write a table of a release folder into a new file: `parquet`, `stata`, `spss` or `csv`.

    The ending of `out` decides the format, unless `format` states the same. `table` is `fine`, `table`, `counts` or
    `groups`; by default the one that the release recommends. With `bounds`, a column of intervals of numbers is
    followed by two columns of numbers, for `low <= x < high`. This is post-processing and costs nothing.

    Raises `InputError` if the file exists, lies in a release folder, or needs a package that is missing.
    """
    place, target = Path(folder), Path(out)
    chosen = format_named(format, target)
    if os.path.lexists(target):
        raise InputError(f"{target} exists already and is not overwritten. Give another --out.")
    within = next((each for each in target.resolve().parents if (each / "release.json").exists()), None)
    if within is not None:
        raise InputError(f"{target} lies in the release folder {within}, which is never changed. Give another --out.")
    FORMATS[chosen].check()
    release, manifest = read_release(place), read_manifest(place)
    source = export_table(
        release, place, files=set(manifest["files"]), recommended=manifest["recommended"], wanted=table, bounds=bounds
    )
    # The same ending: pyreadstat and other programs look at it.
    unfinished = target.with_name(f".{target.stem}-unfinished-{os.getpid()}{target.suffix}")
    try:
        renamed = FORMATS[chosen].write(source, unfinished, _facts(release))
        if os.path.lexists(target):
            raise InputError(f"{target} was created in the meantime and is not overwritten. Give another --out.")
        unfinished.rename(target)
    except OSError as error:
        raise ScumbleError(f"Cannot write {target}: {error.strerror}. Choose another --out.") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return Exported(
        path=target, table=f"{source.name}.csv", format=chosen, columns=tuple(source.meanings), renamed=renamed
    )


def _facts(release: Release) -> dict[str, str]:
    """What an exported file says about itself."""
    guarantee = release.plan.guarantee
    return {
        "title": f"{guarantee_text(guarantee)}, by scumble {release.method}",
        "guarantee": guarantee.sentence,
        "method": release.method,
    }
