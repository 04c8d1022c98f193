"""Methods side by side over repeated splits of a table, with peers from other projects."""
