"""`microaggregate` for tables with categories, ordered categories, dates and missing values."""
