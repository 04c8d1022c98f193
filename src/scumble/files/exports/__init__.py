"""Tables of a release in the formats of other programs.

An export is post-processing of a published folder: it reads nothing else, so the guarantee of the release covers it.
"""
