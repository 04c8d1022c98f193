"""Figures of Mohammed, Chen, Fung and Yu (KDD 2011)."""
