"""Figures of Iftikhar, Wang and Lin (EDBT 2019), and the violation of the claim of S-MDAV."""
