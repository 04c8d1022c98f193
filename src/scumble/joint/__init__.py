"""Several owners: arithmetic on shares, parties, transport, and the joint holder under unchanged methods."""
