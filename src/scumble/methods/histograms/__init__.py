"""One noisy table of every attribute by class, and rows drawn from them as naive Bayes would."""
