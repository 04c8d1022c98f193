"""How faithful a published table is to the raw rows behind it, for the owner of these rows: nothing here is private."""
