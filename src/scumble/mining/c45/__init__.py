"""C4.5 (Quinlan 1993, with the threshold correction of Quinlan 1996): multiway decision trees by gain ratio."""
