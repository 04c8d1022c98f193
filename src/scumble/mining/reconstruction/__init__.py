"""Reconstructs the distribution of true values from perturbed ones: Agrawal & Srikant (2000, section 3), and EMS."""
