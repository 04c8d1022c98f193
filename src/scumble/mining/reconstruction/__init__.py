"""Distributions of true values from perturbed ones: the iteration of Agrawal and Srikant, and its smoothing."""
