"""Decision trees learned from perturbed records: the algorithms Global, ByClass and Local of Agrawal and Srikant."""
