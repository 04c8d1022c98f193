"""`read.R`: reads the tables of the folder with base R, and no package."""

import json
from collections.abc import Sequence

from scumble.files.descriptions.tables import DescribedTable

SCRIPT = """\
# Reads the tables of this release with base R. In this folder: Rscript read.R
# In a session: source("read.R", chdir = TRUE), then tables[["counts.csv"]]

numbers <- list(
@NUMBERS@
)
recommended <- @RECOMMENDED@

read_table <- function(file) {
  rows <- read.csv(file, colClasses = "character", check.names = FALSE, na.strings = character(0), encoding = "UTF-8")
  for (name in names(rows)) {
    if (name %in% numbers[[file]]) {
      rows[[name]] <- as.numeric(rows[[name]])  # an empty field is a missing number
    } else {
      rows[[name]] <- factor(rows[[name]], levels = unique(rows[[name]]))
    }
  }
  rows
}

# The limits of intervals such as [15,28): numbers low <= x < high; NA for other values.
interval_low <- function(values) {
  suppressWarnings(as.numeric(sub("^\\\\[([^,]*),.*$", "\\\\1", as.character(values))))
}
interval_high <- function(values) {
  suppressWarnings(as.numeric(sub("^\\\\[[^,]*,([^)]*)\\\\).*$", "\\\\1", as.character(values))))
}

tables <- lapply(stats::setNames(names(numbers), names(numbers)), read_table)

if (sys.nframe() == 0) {
  for (file in names(tables)) {
    cat(file, ": ", nrow(tables[[file]]), " lines, ", ncol(tables[[file]]), " columns\\n", sep = "")
  }
  if ("counts.csv" %in% names(tables)) {
    counts <- tables[["counts.csv"]]
    error <- sqrt(sum(counts$variance))
    cat("records: ", sum(counts$measured), ", standard error of the noise ", error, "\\n", sep = "")
  }
  cat("for training: ", recommended, "\\n", sep = "")
}
"""


def r_script(tables: Sequence[DescribedTable], recommended: str) -> str:
    """The text of read.R."""
    numbers = ",\n".join(f"  {_literal(table.file)} = c({', '.join(map(_literal, table.numbers))})" for table in tables)
    return SCRIPT.replace("@NUMBERS@", numbers).replace("@RECOMMENDED@", _literal(recommended))


def _literal(text: str) -> str:
    """A text as R writes it: the escapes of JSON are also R's."""
    return json.dumps(text, ensure_ascii=False)
