"""DiffP-C4.5 (Friedman & Schuster 2010): one decision tree, learned under differential privacy, and no table."""
