"""Mondrian multidimensional k-anonymity (LeFevre, DeWitt, Ramakrishnan 2006)."""
