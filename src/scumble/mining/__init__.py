"""What the receiver of a release runs: classifiers and reconstruction. Imports nothing but `model`."""
