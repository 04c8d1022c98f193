"""The laws every query and every method must pass; authors of methods run them through `check_method`."""
