"""Laws that every query and method must satisfy. Authors of methods run them with `check_method`."""
