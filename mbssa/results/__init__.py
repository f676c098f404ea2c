"""Names of :mod:`mbssa.reports` by which the input search and ``routes`` still call them."""
