"""Names by which ``routes`` still calls :mod:`groups.cli.requests`."""

from groups.cli.requests import modes_asked as modes_asked
