"""Integer linear transforms of count tables, with their inverses: what methods measure instead of the counts."""
