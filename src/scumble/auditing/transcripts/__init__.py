"""The likelihood check of transcripts: the exact privacy loss of all answers of a run, on neighbouring tables.

A *transcript* is the list of all draws of noise of one run, in order, with the answers that they made. For two
neighbouring tables the check computes the probability of the same transcript on both, answer by answer, from the exact
distributions of the mechanisms. The log ratio of the two probabilities is the privacy loss of this transcript, and
epsilon bounds it for every transcript. There is no sampling error: a loss above epsilon is a violation.
"""
