"""Several owners of disjoint rows: a holder whose counts are secret-shared, under unchanged methods.

`protocol` computes on shares, `network` carries messages, `session` keeps what a party needs to resume.
"""
