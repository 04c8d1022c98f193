"""The MDAV family of microaggregation: `mdav`, `i-mdav`, `s-mdav` (EDBT 2019), and `plain` noisy records."""
