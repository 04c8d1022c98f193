"""What the receiver of a release runs: classifiers and reconstruction. Depends on `model` only."""
