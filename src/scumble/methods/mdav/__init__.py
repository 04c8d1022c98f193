"""The MDAV family: MDAV, I-MDAV, S-MDAV (EDBT 2019) and plain noisy records."""
