"""Decision trees from perturbed records: Global, ByClass and Local of Agrawal & Srikant (2000, section 4)."""
