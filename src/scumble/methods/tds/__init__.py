"""Top-down specialization for k-anonymity and classification (Fung, Wang, Yu 2007)."""
