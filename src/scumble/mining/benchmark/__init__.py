"""The classifiers by which releases are compared: one pruned tree and one boosting, the same for every table."""
