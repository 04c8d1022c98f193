"""Dates, times of day and timestamps in files of statistics programs: numbers in a column with a declared format.

The library's own conversion raises for one value outside the years 1 to 9999; here such a value is off the domain.
"""

import math
import re
from collections.abc import Callable
from datetime import date

from scumble.model.raw_value import date_text, moment_text, time_text
from scumble.sources.object_column import OFF_DOMAIN

_LARGEST = 1e15
"""Larger numbers are no dates in any unit."""
_DAY = 24 * 60 * 60
_FROM_1960 = (date(1960, 1, 1) - date(1970, 1, 1)).days
_FROM_1582 = (date(1582, 10, 14) - date(1970, 1, 1)).days
_SPSS = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "SDATE", "JDATE"), "date"),
    **dict.fromkeys(("DATETIME", "YMDHMS"), "moment"),
    "TIME": "time",
}
_SAS = {
    **dict.fromkeys(("DATE", "DAY", "DDMMYY", "MMDDYY", "YYMMDD", "E8601DA", "B8601DA", "IS8601DA"), "date"),
    **dict.fromkeys(("WEEKDATE", "WEEKDATX", "WORDDATE", "WORDDATX", "JULIAN", "NLDATE", "MINGUO"), "date"),
    **dict.fromkeys(("DATETIME", "DATEAMPM", "E8601DT", "B8601DT", "IS8601DT", "NLDATM"), "moment"),
    **dict.fromkeys(("TIME", "TIMEAMPM", "TOD", "E8601TM", "B8601TM", "IS8601TM", "NLTIME"), "time"),
}
Reader = Callable[[float], object]


def date_reader(ending: str, declared: str) -> Reader | None:
    """How numbers of a column with this format are read; None where they are numbers.

    >>> [date_reader(*each)(1.5) for each in ((".dta", "%td"), (".sav", "DATETIME20"), (".xpt", "TIME8"))]
    ['1960-01-02', '1582-10-14T00:00:01.5', '00:00:01.5']
    """
    if ending == ".dta":
        kind = re.match(r"%-?(td|tc|d)", declared)
        readers = {"td": _days(_FROM_1960), "d": _days(_FROM_1960), "tc": _seconds(_FROM_1960, per_second=1000)}
        return readers[kind[1]] if kind else None
    spss = ending in {".sav", ".zsav"}
    found = re.match(r"[A-Z0-9]*?[A-Z]+(?=[0-9.]*$)", declared.upper())
    named = re.sub(r"^(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]$", r"\1", found[0] if found else "")
    start = _FROM_1582 if spss else _FROM_1960
    match (_SPSS if spss else _SAS).get(named):
        case "date":
            return _days(start, per_day=_DAY if spss else 1)
        case "moment":
            return _seconds(start)
        case "time":
            return _read(lambda value: time_text(round(value * 10**6), "us"))
    return None


def _days(start: int, per_day: int = 1) -> Reader:
    return _read(lambda value: date_text(math.floor(value / per_day) + start))


def _seconds(start: int, per_second: int = 1) -> Reader:
    microseconds = 10**6 // per_second
    return _read(lambda value: moment_text(round(value * microseconds) + start * _DAY * 10**6, "us", zoned=False))


def _read(text_of: Callable[[float], str | None]) -> Reader:
    def read(value: float) -> object:
        text = text_of(value) if abs(value) < _LARGEST else None  # NaN is not below it
        return OFF_DOMAIN if text is None else text

    return read
