"""The optional parts of the installation: which packages each extra has, and what to do where one is missing.

A module that needs an optional package imports it inside `needing`, so that every such error names the same remedy.
`scumble doctor` prints the table; docs/install.md says why each package is there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec

from scumble.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Extra:
    """Packages that `pip install 'scumble[NAME]'` adds, by the modules they provide, and what they are for."""

    packages: Mapping[str, str]
    """The name of each package, and the module that is imported from it."""
    purpose: str
    also: str = ""
    """What pip cannot install."""


EXTRAS: Mapping[str, Extra] = {
    "charts": Extra(packages={"matplotlib": "matplotlib"}, purpose="Charts as SVG or PNG files"),
    "evaluate": Extra(
        packages={"scikit-learn": "sklearn", "threadpoolctl": "threadpoolctl"},
        purpose="The classifiers of `evaluate`, `compare`, `mine train` and the Python API",
    ),
    "duckdb": Extra(packages={"duckdb": "duckdb"}, purpose="The engine duckdb and DuckDB databases"),
    "spark": Extra(
        packages={"pandas": "pandas", "pyspark": "pyspark"},
        purpose="The engine spark and Spark frames",
        also="Java 17 (Debian: openjdk-17-jre-headless)",
    ),
    "postgres": Extra(
        packages={"adbc-driver-postgresql": "adbc_driver_postgresql"}, purpose="Tables of a PostgreSQL database"
    ),
    "excel": Extra(packages={"python-calamine": "python_calamine"}, purpose="Spreadsheets"),
    "statistics": Extra(
        packages={"pandas": "pandas", "pyreadstat": "pyreadstat"}, purpose="Files of Stata, SPSS and SAS"
    ),
    "joint": Extra(packages={"cryptography": "cryptography"}, purpose="Joint releases of several owners"),
    "sign": Extra(packages={"cryptography": "cryptography"}, purpose="Signatures of releases"),
    "studio": Extra(
        packages={"starlette": "starlette", "uvicorn": "uvicorn"},
        purpose="The local web page and the server of a survey",
    ),
}


def install_line(extra: str) -> str:
    """The command that installs an extra.

    >>> install_line("charts")
    "pip install 'scumble[charts]'"
    """
    return f"pip install 'scumble[{extra}]'"


def missing_sentence(extra: str) -> str:
    """What is missing, and how to install it."""
    wanted = EXTRAS[extra]
    also = f", and {wanted.also}" if wanted.also else ""
    package = "package" if len(wanted.packages) == 1 else "packages"
    return (
        f"{wanted.purpose} need the optional {package} {' and '.join(wanted.packages)}. Install what is missing: "
        f"{install_line(extra)}{also}."
    )


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import the packages of an extra inside this block: where one is missing, `InputError` says how to install it.

    An `InputError`, because nothing was charged and the remedy is the user's. A package that is there but broken raises
    its own error.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        root = (error.name or "").partition(".")[0]
        if root not in EXTRAS[extra].packages.values():
            raise
        raise InputError(missing_sentence(extra)) from None


def is_installed(extra: str) -> bool:
    """Whether all packages of an extra are there. It imports none of them."""
    return all(find_spec(module) is not None for module in EXTRAS[extra].packages.values())


def installed_version(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
