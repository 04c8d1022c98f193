"""Histograms: measures a noisy table of each attribute by class, and draws rows under the naive Bayes assumption."""
