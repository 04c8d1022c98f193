"""What a miner runs on a release, and the custodian on raw rows to compare: one encoding, two classifiers, scores."""
