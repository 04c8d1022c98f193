"""Laws that every query and every method keeps, and the checks that hold them to it."""
