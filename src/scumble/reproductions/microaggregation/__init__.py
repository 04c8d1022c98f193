"""Figures of Iftikhar, Wang and Lin (EDBT 2019), and a demonstration that S-MDAV violates its privacy claim."""
