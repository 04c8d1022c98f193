"""What the receiver of a release runs: classifiers and reconstruction. It imports `errors`, `model` and
`compiled`, so it cannot read private rows or spend a budget."""
