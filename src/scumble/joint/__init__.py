"""Joint releases: several data owners with disjoint rows publish one differentially private table.

Every party runs the same, unchanged method. Its queries are answered by a multi-party computation on secret-shared
counts; each party learns the noisy answers and nothing else about the other owners' rows. `PROOF.md` states and proves
the guarantee.

`protocol` computes on secret shares, `network` carries the messages, `session` stores what a party needs to resume an
interrupted run, `holder` answers a method's queries, and `simulated` imitates the protocol in one process for
experiments.
"""
