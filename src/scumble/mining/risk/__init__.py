"""Risk of re-identification: how many records look alike, and what can be concluded from it."""
