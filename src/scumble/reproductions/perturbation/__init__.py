"""Figures and tables of Agrawal and Srikant (SIGMOD 2000)."""
