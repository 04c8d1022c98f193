"""DiffGen (Mohammed, Chen, Fung, Yu, KDD 2011): generalization by private choices, then noisy counts of the cells."""
